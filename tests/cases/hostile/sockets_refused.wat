;;! run = "load"
;;! code = "interface"
;;! message = ["wasi:sockets/instance-network@0.2.0"]
(import "wasi:sockets/instance-network@0.2.0" "instance-network" (func $network (result i32)))
(func $call (param i32 i32 i32 i32) (result i32) (drop (call $network)) (call $nothing))
