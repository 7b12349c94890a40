;;! code = "invalid_output"
;;! message = ["objects[0]"]
;;! yields = ["text before"]
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"before") (call $result @"{\"a\":18446744073709551616}") (call $yield_text @"after") (call $nothing))
