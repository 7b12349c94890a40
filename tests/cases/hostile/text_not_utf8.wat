;; Text that is not UTF-8 traps.
;;! code = "trap"
(func $call (param i32 i32 i32 i32) (result i32)
  (i32.store8 (i32.const 4096) (i32.const 255))
  (call $yield_text (i32.const 4096) (i32.const 1)) (call $nothing))
