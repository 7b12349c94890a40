;;! code = "output"
;;! limit = "yield"
(memory (export "memory") 800)
(func $call (param i32 i32 i32 i32) (result i32) (call $return (i32.const 131072) (i32.const 50000000)))
