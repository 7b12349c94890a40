;; The declared minimum is two pages and the limit is above it: sixteen more pages are given, one more is not.
;;! limits = { memory = "1MiB" }
;;! code = "ok"
;;! yields = ["text given", "text refused"]
(memory (export "memory") 3)
(func $grow (param $pages i32)
  (if (i32.eq (memory.grow (local.get $pages)) (i32.const -1))
    (then (call $yield_text @"refused")) (else (call $yield_text @"given"))))
(func $call (param i32 i32 i32 i32) (result i32)
  (call $grow (i32.const 16)) (call $grow (i32.const 1)) (call $nothing))
