;;! limits = { events = 100 }
;;! code = "ok"
;;! n_yields = 100
(func $call (param i32 i32 i32 i32) (result i32)
  (local $i i32)
  (loop $again
    (call $yield_progress (local.get $i) (i32.const 100))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 100))))
  (call $nothing))
