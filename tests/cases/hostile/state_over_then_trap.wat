;; A trap that follows is told as that limit.
;;! limits = { state = "10B" }
;;! code = "state"
;;! limit = "state"
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"\"123456\"" (i32.const 3072))
  (unreachable))
