;;! run = "describe"
;;! code = "trap"
;;! message = ["environment.object"]
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (call $object @"x" (i32.const 3072)) (unreachable))
