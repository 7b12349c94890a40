;; A trap that follows a refused growth is told as the memory limit.
;;! limits = { memory = "1MiB" }
;;! code = "memory"
;;! limit = "memory"
;;! yields = ["text so far"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"so far")
  (loop $again
    (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
    (br $again))
  (unreachable))
