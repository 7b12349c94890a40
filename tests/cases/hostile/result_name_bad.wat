;;! code = "invalid_output"
;;! message = ["result name"]
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 129))
  (call $results (i32.const 0) (i32.const 0) (i32.const 4096) (i32.const 129))
  (call $nothing))
