;;! run = "available"
;;! code = "invalid_output"
;;! message = ["0 answers for 1"]
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (i32.store (i32.const 1036) (i32.const 0)) (i32.const 1032))
