;;! run = "available"
;;! code = "ok"
;;! value = "false what is it?"
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (call $prompt (i32.const 3072))
  (i32.store (i32.const 1032) (i32.const 4096)) (i32.store (i32.const 1036) (i32.const 1))
  (i32.store (i32.const 4100) (i32.const 1))
  (i32.store (i32.const 4104) (i32.load (i32.const 3072))) (i32.store (i32.const 4108) (i32.load (i32.const 3076)))
  (i32.const 1032))
