;; A component of another world.
;;! run = "load"
;;! code = "interface"
;;! message = ["elysia:plugin/tools@0.1.0"]
(component
  (core module $m (func (export "f") (result i32) (i32.const 1)))
  (core instance $i (instantiate $m))
  (func (export "answer") (result u32) (canon lift (core func $i "f"))))
