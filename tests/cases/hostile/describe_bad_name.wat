;;! run = "describe"
;;! code = "invalid_output"
;;! message = ["tool name"]
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (memory.fill (i32.const 4096) (i32.const 0) (i32.const 108))
  (i32.store (i32.const 1024) (i32.const 4096)) (i32.store (i32.const 1028) (i32.const 1)) (i32.const 1024))
