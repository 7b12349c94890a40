;; What was yielded before a trap is kept; state is not.
;;! code = "trap"
;;! message = ["unreachable"]
;;! yields = ["text one", 'result default [{"a":1}]']
;;! state_after = "unchanged"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"1" (i32.const 3072))
  (call $yield_text @"one")
  (call $result @"{\"a\":1}")
  (unreachable))
