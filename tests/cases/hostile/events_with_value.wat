;; A returned value counts as a last yield.
;;! limits = { events = 2 }
;;! code = "events"
;;! limit = "events"
;;! n_yields = 2
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"one") (call $yield_text @"two") (call $return @"3"))
