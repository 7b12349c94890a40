;;! limits = { state = "10B" }
;;! code = "ok"
;;! state = '{"old":12345}'
;;! state_after = '{"key":"1234"}'
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_remove @"old")
  (call $state_set @"key" @"\"123\"" (i32.const 3072))
  (call $state_set @"key" @"\"1234\"" (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then (unreachable)))
  (call $nothing))
