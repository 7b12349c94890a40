;; Two tables share one limit.
;;! limits = { tables = 2000 }
;;! code = "tables"
;;! limit = "tables"
(table $t 0 funcref)
(table $u 0 funcref)
(func $call (param i32 i32 i32 i32) (result i32)
  (drop (table.grow $t (ref.null func) (i32.const 1500)))
  (if (i32.eq (table.grow $u (ref.null func) (i32.const 1500)) (i32.const -1)) (then (unreachable)))
  (call $nothing))
