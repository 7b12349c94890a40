;;! code = "unavailable"
;;! message = ["try red shoes"]
;;! yields = ["text partial"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"partial") (call $fail (i32.const 2) @"try red shoes"))
