;; The set is refused with a reason and the guest goes on; what was there stays.
;;! limits = { state = "10B" }
;;! code = "ok"
;;! state = '{"old":1}'
;;! state_after = "unchanged"
;;! value = "1"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"\"1234\"" (i32.const 3072))
  (if (i32.eqz (i32.load8_u (i32.const 3072))) (then (unreachable)))
  (call $return @"1"))
