;;! run = "available"
;;! limits = { ask = "100ms" }
;;! code = "deadline"
;;! limit = "ask"
(func $available (export "elysia:plugin/tools@0.1.0#available") (param i32 i32) (result i32)
  (loop $forever (br $forever)) (unreachable))
