;; Yields that cost no bytes are counted; those before the limit are kept.
;;! limits = { events = 100 }
;;! code = "events"
;;! limit = "events"
;;! n_yields = 100
(func $call (param i32 i32 i32 i32) (result i32)
  (loop $again (call $yield_text (i32.const 0) (i32.const 0)) (br $again))
  (unreachable))
