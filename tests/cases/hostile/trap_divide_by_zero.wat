;;! code = "trap"
;;! message = ["division by zero"]
(func $call (param $a i32) (param i32 i32 i32) (result i32) (i32.div_u (local.get $a) (i32.const 0)))
