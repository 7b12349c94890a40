;;! run = "describe"
;;! code = "trap"
;;! message = ["yield-status", "tools.call"]
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (call $yield_status @"hi") (unreachable))
