;; Three descriptors of which two are allowed; each is the same.
;;! run = "describe"
;;! limits = { tools = 2 }
;;! code = "invalid_output"
;;! limit = "tools"
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (memory.fill (i32.const 4096) (i32.const 0) (i32.const 324))
  (i32.store (i32.const 1024) (i32.const 4096)) (i32.store (i32.const 1028) (i32.const 3)) (i32.const 1024))
