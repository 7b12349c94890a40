;; The asynchronous ABI is refused with the way to rebuild, before anything is compiled.
;;! run = "load"
;;! code = "interface"
;;! message = ["asynchronous"]
(component
  (core module $m (func (export "f")))
  (core instance $i (instantiate $m))
  (func (export "run") async (canon lift (core func $i "f") async)))
