;; Neither do many short waits help it, which cost next to no CPU time.
;;! limits = { wall = "200ms" }
;;! code = "deadline"
;;! limit = "wall"
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
(import "wasi:io/poll@0.2.0" "[resource-drop]pollable" (func $drop (param i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (local $p i32)
  (loop $again
    (local.set $p (call $subscribe (i64.const 2000000)))
    (call $block (local.get $p))
    (call $drop (local.get $p))
    (br $again))
  (unreachable))
