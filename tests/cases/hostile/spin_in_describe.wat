;;! run = "describe"
;;! limits = { describe = { cpu = "60ms" } }
;;! code = "cpu"
;;! limit = "describe.cpu"
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32) (loop $forever (br $forever)) (unreachable))
