;; Inputs of exactly the limit: {"a":"xx"} has ten bytes.
;;! limits = { inputs = "10B" }
;;! inputs = '{"a":"xx"}'
;;! code = "ok"
;;! value = '{"a":"xx"}'
(func $call (param i32 i32) (param $inputs i32) (param $len i32) (result i32)
  (call $return (local.get $inputs) (local.get $len)))
