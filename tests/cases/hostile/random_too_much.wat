;; One request for random bytes is bounded.
;;! code = "trap"
(import "wasi:random/random@0.2.0" "get-random-bytes" (func $random (param i64 i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (call $random (i64.const 100000) (i32.const 3072)) (call $nothing))
