;;! code = "trap"
;;! message = ["out of bounds"]
(func $call (param i32 i32 i32 i32) (result i32) (i32.load (i32.const -8)))
