;; With little CPU time and much wall time it is the CPU limit that ends it.
;;! limits = { cpu = "60ms", wall = "20s" }
;;! code = "cpu"
;;! limit = "cpu"
(func $call (param i32 i32 i32 i32) (result i32) (loop $forever (br $forever)) (unreachable))
