;;! code = "failed"
;;! feedback_bytes = 2048
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 2048))
  (call $fail (i32.const 5) (i32.const 4096) (i32.const 2048)))
