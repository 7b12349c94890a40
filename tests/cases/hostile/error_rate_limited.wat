;;! code = "rate_limited"
;;! message = ["try red shoes"]
;;! yields = ["text partial"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"partial") (call $fail (i32.const 3) @"try red shoes"))
