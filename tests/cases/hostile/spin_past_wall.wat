;; A guest that spins ends by its deadline.
;;! limits = { wall = "150ms" }
;;! code = "deadline"
;;! limit = "wall"
(func $call (param i32 i32 i32 i32) (result i32) (loop $forever (br $forever)) (unreachable))
