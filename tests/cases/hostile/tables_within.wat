;;! limits = { tables = 2000 }
;;! code = "ok"
;;! yields = ["text given"]
(table $t 0 funcref)
(func $call (param i32 i32 i32 i32) (result i32)
  (if (i32.ne (table.grow $t (ref.null func) (i32.const 1500)) (i32.const -1)) (then (call $yield_text @"given")))
  (call $nothing))
