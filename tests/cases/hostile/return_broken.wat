;;! code = "invalid_output"
;;! message = ["returned value"]
(func $call (param i32 i32 i32 i32) (result i32) (call $return @"nope"))
