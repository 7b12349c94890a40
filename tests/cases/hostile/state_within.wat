;; Key and value are counted: 3 + 7 bytes.
;;! limits = { state = "10B" }
;;! code = "ok"
;;! state = '{}'
;;! state_after = '{"key":"12345"}'
;;! value = "0"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"\"12345\"" (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then (unreachable)))
  (call $return @"0"))
