;;! code = "invalid_output"
;;! message = ["metadata"]
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 0) (i32.const 76))
  (i32.store8 (i32.const 4116) (i32.const 1))
  (i32.store (i32.const 4120) (i32.const 5000)) (i32.store (i32.const 4124) (i32.const 1))
  (i32.store8 (i32.const 5000) (i32.const 55))
  (call $yield_result (i32.const 4096) (i32.const 3072))
  (call $nothing))
