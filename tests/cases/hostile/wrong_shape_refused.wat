;; The right name with the wrong content.
;;! run = "load"
;;! code = "interface"
;;! message = ["do not match"]
(component
  (instance $i)
  (export "elysia:plugin/tools@0.1.0" (instance $i)))
