;; Only `tools.call` may reach for the network or a model, grant or not.
;;! run = "available"
;;! code = "trap"
;;! message = ["http.fetch", "tools.call"]
(import "elysia:plugin/http@0.1.0" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
(func $available (param i32 i32) (result i32)
  (call $fetch @"GET" @"https://example.com" (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 3072))
  (unreachable))
