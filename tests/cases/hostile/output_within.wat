;;! limits = { output = "900B" }
;;! code = "ok"
;;! n_yields = 3
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 300))
  (call $yield_text (i32.const 4096) (i32.const 300))
  (call $yield_text (i32.const 4096) (i32.const 300))
  (call $yield_text (i32.const 4096) (i32.const 300))
  (call $nothing))
