;; A text so large that the engine refuses to copy it is told as the same limit.
;;! limits = { memory = "64MiB" }
;;! code = "output"
;;! limit = "yield"
;;! n_yields = 1
(memory (export "memory") 800)
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"before")
  (memory.fill (i32.const 131072) (i32.const 120) (i32.const 50000000))
  (call $yield_text (i32.const 131072) (i32.const 50000000))
  (call $nothing))
