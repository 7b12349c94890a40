;;! code = "trap"
;;! message = ["stack overflow"]
(func $call (param $a i32) (param i32 i32 i32) (result i32)
  (i32.add (i32.const 1) (call $call (local.get $a) (i32.const 0) (i32.const 0) (i32.const 0))))
