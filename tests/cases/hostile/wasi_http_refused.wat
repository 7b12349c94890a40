;; Not in this version: `http.fetch` is what there is.
;;! run = "load"
;;! code = "interface"
;;! message = ["wasi:http/types@0.2.0"]
(import "wasi:http/types@0.2.0" "[constructor]fields" (func $fields (result i32)))
(func $call (param i32 i32 i32 i32) (result i32) (drop (call $fields)) (call $nothing))
