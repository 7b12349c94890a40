;;! code = "ok"
;;! yields = ['result default [{"a":18446744073709551615,"b":-9223372036854775808}]']
(func $call (param i32 i32 i32 i32) (result i32)
  (call $result @"{\"a\":18446744073709551615,\"b\":-9223372036854775808}") (call $nothing))
