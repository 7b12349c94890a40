;; Exactly the default limit of 1 MiB, in one text.
;;! code = "ok"
;;! n_yields = 1
(memory (export "memory") 20)
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 131072) (i32.const 120) (i32.const 1048576))
  (call $yield_text (i32.const 131072) (i32.const 1048576))
  (call $nothing))
