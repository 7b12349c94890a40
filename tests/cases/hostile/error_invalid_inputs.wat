;;! code = "invalid_inputs"
;;! message = ["try red shoes"]
;;! yields = ["text partial"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"partial") (call $fail (i32.const 0) @"try red shoes"))
