;; A returned value has the limit of a yield.
;;! limits = { yield = "1000B" }
;;! code = "output"
;;! limit = "yield"
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 49) (i32.const 1001))
  (call $return (i32.const 4096) (i32.const 1001)))
