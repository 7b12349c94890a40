;;! code = "ok"
;;! n_yields = 1
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 1024))
  (call $yield_status (i32.const 4096) (i32.const 1024)) (call $nothing))
