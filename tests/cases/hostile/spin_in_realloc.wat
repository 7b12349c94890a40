;; So is making room for the inputs.
;;! limits = { wall = "150ms" }
;;! code = "deadline"
;;! limit = "wall"
(func $alloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (loop $forever (br $forever)) (unreachable))
