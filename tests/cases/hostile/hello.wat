;; A good guest yields, returns, and its state is untouched.
;;! code = "ok"
;;! yields = ["status working", "text hi", 'result default [{"a":1}]', "progress 1/2", "warning careful"]
;;! value = '{"done":true}'
;;! state_after = "unchanged"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_status @"working")
  (call $yield_text @"hi")
  (call $result @"{\"a\":1}")
  (call $yield_progress (i32.const 1) (i32.const 2))
  (call $yield_warning @"careful")
  (call $return @"{\"done\":true}"))
