;; Escapes and the like never reach anyone; inside objects they are data.
;;! code = "ok"
;;! yields = ["text a[31mb", "status one line", 'result default [{"a":"x\u001b"}]']
(func $call (param i32 i32 i32 i32) (result i32)
  (call $yield_text @"a\e[31mb")
  (call $yield_status @"one\nline")
  (call $result @"{\"a\":\"x\\u001b\"}")
  (call $nothing))
