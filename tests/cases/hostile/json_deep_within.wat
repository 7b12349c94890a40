;; An object nested 64 deep is taken.
;;! code = "ok"
;;! n_yields = 1
(func $call (param i32 i32 i32 i32) (result i32) (call $result @"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}") (call $nothing))
