;; One byte more.
;;! code = "output"
;;! limit = "yield"
;;! message = ["1048577 B"]
;;! n_yields = 0
(memory (export "memory") 20)
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 131072) (i32.const 120) (i32.const 1048577))
  (call $yield_text (i32.const 131072) (i32.const 1048577))
  (call $nothing))
