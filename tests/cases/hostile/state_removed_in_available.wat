;;! run = "available"
;;! code = "trap"
;;! message = ["state.remove", "tools.call"]
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (call $state_remove @"key") (unreachable))
