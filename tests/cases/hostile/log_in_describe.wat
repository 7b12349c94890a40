;; The log may be used anywhere.
;;! run = "describe"
;;! code = "ok"
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (call $log (i32.const 3) @"hello") (i32.store (i32.const 1028) (i32.const 0)) (i32.const 1024))
