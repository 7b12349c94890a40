;;! run = "load"
;;! code = "interface"
;;! message = ["elysia:plugin@0.2.0"]
(component
  (instance $i)
  (export "elysia:plugin/tools@0.2.0" (instance $i)))
