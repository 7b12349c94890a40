;;! code = "exit"
;;! message = ["status 1"]
(import "wasi:cli/exit@0.2.0" "exit" (func $exit (param i32)))
(func $call (param i32 i32 i32 i32) (result i32) (call $exit (i32.const 1)) (unreachable))
