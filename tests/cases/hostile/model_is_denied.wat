;; Without a grant a model answers `denied`, naming the line that allows it.
;;! code = "ok"
;;! n_yields = 1
;;! yields = ["text plugin `under-test` has no grant for models; do not retry. The operator allows it with `elysia-host plugin grant under-test --model`"]
(import "elysia:plugin/model@0.1.0" "complete"
  (func $complete (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 f32 i32 i32 i32)))
(func $call (param i32 i32 i32 i32) (result i32)
  (call $complete (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
    (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (f32.const 0) (i32.const 0) (i32.const 0)
    (i32.const 3072))
  ;; result<reply, model-error>: the error's text
  (if (i32.eqz (i32.load8_u (i32.const 3072))) (then (unreachable)))
  (call $yield_text (i32.load (i32.const 3080)) (i32.load (i32.const 3084)))
  (call $nothing))
