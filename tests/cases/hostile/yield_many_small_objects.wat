;; Just under 1 MiB in very many small objects: what the engine charges for a list does not make it fail.
;;! limits = { wall = "120s", cpu = "100s" }
;;! code = "ok"
;;! n_yields = 1
(memory (export "memory") 64)
(func $call (param i32 i32 i32 i32) (result i32)
  (local $i i32)
  ;; Every item of the list is the same text of seven bytes, 140 000 times.
  (loop $again
    (i64.store (i32.add (i32.const 131072) (i32.shl (local.get $i) (i32.const 3)))
      (i64.or (i64.extend_i32_u (i32.const 1200)) (i64.shl (i64.const 7) (i64.const 32))))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $again (i32.lt_u (local.get $i) (i32.const 140000))))
  (i64.store (i32.const 1200) (i64.const 0x7d313a2261227b)) ;; {"a":1}
  (call $results (i32.const 131072) (i32.const 140000) (i32.const 0) (i32.const 0))
  (call $nothing))
