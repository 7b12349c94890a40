;;! run = "available"
;;! code = "trap"
;;! message = ["yield-text", "tools.call"]
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (call $yield_text @"hi") (unreachable))
