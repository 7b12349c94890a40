;; A guest that waits in the host is ended by the timer: epochs do not wake it.
;;! limits = { wall = "150ms" }
;;! code = "deadline"
;;! limit = "wall"
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (call $block (call $subscribe (i64.const 60000000000)))
  (call $nothing))
