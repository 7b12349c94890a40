;;! code = "output"
;;! limit = "status"
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 1025))
  (call $yield_warning (i32.const 4096) (i32.const 1025)) (call $nothing))
