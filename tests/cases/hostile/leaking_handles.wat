;; Handles that are never dropped are bounded.
;;! code = "trap"
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (loop $again (drop (call $subscribe (i64.const 2000000))) (br $again))
  (unreachable))
