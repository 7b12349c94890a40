;;! code = "unavailable"
;;! state_after = '{"key":1}'
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"1" (i32.const 3072))
  (call $fail (i32.const 2) @"busy"))
