;; Refused with a reason.
;;! code = "ok"
;;! value = "1"
;;! state_after = "unchanged"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"{" (i32.const 3072))
  (if (i32.eqz (i32.load8_u (i32.const 3072))) (then (unreachable)))
  (call $return @"1"))
