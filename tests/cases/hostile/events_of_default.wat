;; The default: 10 000 pass and the next one does not.
;;! code = "events"
;;! limit = "events"
;;! n_yields = 10000
(func $call (param i32 i32 i32 i32) (result i32)
  (loop $again (call $yield_progress (i32.const 0) (i32.const 0)) (br $again))
  (unreachable))
