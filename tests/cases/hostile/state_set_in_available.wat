;; Refused with a reason, not a trap: the guest answers all the same.
;;! run = "available"
;;! code = "ok"
;;! value = "true"
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (call $state_set @"key" @"1" (i32.const 3072))
  (if (i32.eqz (i32.load8_u (i32.const 3072))) (then (unreachable)))
  (i32.store (i32.const 1032) (i32.const 4096)) (i32.store (i32.const 1036) (i32.const 1))
  (i32.store8 (i32.const 4096) (i32.const 1))
  (i32.const 1032))
