;;! limits = { memory = "1MiB" }
;;! code = "memory"
;;! limit = "memory"
(func $call (param i32 i32 i32 i32) (result i32)
  (if (i32.eq (memory.grow (i32.const 60000)) (i32.const -1)) (then (unreachable)))
  (call $nothing))
