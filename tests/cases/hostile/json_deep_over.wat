;; 65 is not, and a refused yield ends the call.
;;! code = "invalid_output"
;;! limit = "json_depth"
;;! yields = ["text before"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"before") (call $result @"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}") (call $yield_text @"after") (call $nothing))
