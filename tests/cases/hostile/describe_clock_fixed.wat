;; Clock and randomness stand still in `describe`: the sum of two readings of each is known.
;;! run = "describe"
;;! code = "ok"
(import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $mono (result i64)))
(import "wasi:clocks/wall-clock@0.2.0" "now" (func $wall (param i32)))
(import "wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64)))
(func $describe (export "elysia:plugin/tools@0.1.0#describe") (result i32)
  (if (i64.ne (call $mono) (i64.const 0)) (then (unreachable)))
  (call $wall (i32.const 3072))
  (if (i64.ne (i64.load (i32.const 3072)) (i64.const 1735689600)) (then (unreachable)))
  (if (i64.ne (call $random) (call $random)) (then (unreachable)))
  (i32.store (i32.const 1028) (i32.const 0))
  (i32.const 1024))
