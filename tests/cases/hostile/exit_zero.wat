;; Exiting is never a success.
;;! code = "exit"
;;! message = ["status 0"]
;;! yields = ["text before"]
(import "wasi:cli/exit@0.2.0" "exit" (func $exit (param i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"before") (call $exit (i32.const 0)) (unreachable))
