;; A value set in this call is what `get` gives.
;;! code = "ok"
;;! yields = ["text [1,2]"]
;;! state_after = '{"key":[1,2]}'
(func $call (param i32 i32 i32 i32) (result i32)
  (call $state_set @"key" @"[1,2]" (i32.const 3072))
  (call $state_get @"key" (i32.const 3072))
  (call $yield_text (i32.load (i32.const 3076)) (i32.load (i32.const 3080)))
  (call $nothing))
