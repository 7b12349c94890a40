;; Shared by all guests here. Addresses below 16384 are scratch: 2048 a tool-result, 2304 what `call` returns,
;; 3072 answers of imports.
(import "elysia:plugin/output@0.1.0" "yield-text" (func $yield_text (param i32 i32)))
(import "elysia:plugin/output@0.1.0" "yield-cited-text" (func $yield_cited_text (param i32 i32 i32 i32 i32)))
(import "elysia:plugin/output@0.1.0" "yield-result" (func $yield_result (param i32 i32)))
(import "elysia:plugin/output@0.1.0" "yield-status" (func $yield_status (param i32 i32)))
(import "elysia:plugin/output@0.1.0" "yield-progress" (func $yield_progress (param i32 i32)))
(import "elysia:plugin/output@0.1.0" "yield-warning" (func $yield_warning (param i32 i32)))
(import "elysia:plugin/log@0.1.0" "write" (func $log (param i32 i32 i32)))
(import "elysia:plugin/environment@0.1.0" "object" (func $object (param i32 i32 i32)))
(import "elysia:plugin/environment@0.1.0" "latest" (func $latest (param i32 i32 i32 i32 i32)))
(import "elysia:plugin/state@0.1.0" "get" (func $state_get (param i32 i32 i32)))
(import "elysia:plugin/state@0.1.0" "set" (func $state_set (param i32 i32 i32 i32 i32)))
(import "elysia:plugin/state@0.1.0" "remove" (func $state_remove (param i32 i32)))
(import "elysia:plugin/conversation@0.1.0" "prompt" (func $prompt (param i32)))
(import "elysia:plugin/conversation@0.1.0" "now" (func $now (param i32)))
;; ---- after the body ----
;; ---- unless memory
(memory (export "memory") $PAGES)
;; ---- unless $alloc
(global $heap (mut i32) (i32.const $HEAP))
(func $alloc (export "cabi_realloc") (param $old i32) (param $olds i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32) (local $end i32)
  (local.set $at (i32.and (i32.add (global.get $heap) (i32.sub (local.get $align) (i32.const 1)))
                          (i32.sub (i32.const 0) (local.get $align))))
  (local.set $end (i32.add (local.get $at) (local.get $size)))
  (if (i32.gt_u (local.get $end) (i32.shl (memory.size) (i32.const 16))) (then
    (if (i32.eq (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $size) (i32.const 16)))) (i32.const -1))
      (then (unreachable)))))
  (global.set $heap (local.get $end))
  (if (local.get $old) (then (memory.copy (local.get $at) (local.get $old) (local.get $olds))))
  (local.get $at))
;; ---- unless $new
(func $new (param $size i32) (result i32)
  (call $alloc (i32.const 0) (i32.const 0) (i32.const 8) (local.get $size)))
;; ---- unless $result
;; Yields one result of `count` objects whose list of (address, length) is at `list`.
(func $results (param $list i32) (param $count i32) (param $name i32) (param $name_len i32)
  (memory.fill (i32.const 2048) (i32.const 0) (i32.const 76))
  (if (local.get $name_len) (then
    (i32.store8 (i32.const 2048) (i32.const 1))
    (i32.store (i32.const 2052) (local.get $name))
    (i32.store (i32.const 2056) (local.get $name_len))))
  (i32.store (i32.const 2060) (local.get $list))
  (i32.store (i32.const 2064) (local.get $count))
  (i32.store8 (i32.const 2112) (i32.const 1))
  (call $yield_result (i32.const 2048) (i32.const 3072)))
;; Yields a result of one object.
(func $result (param $object i32) (param $len i32)
  (i32.store (i32.const 2176) (local.get $object))
  (i32.store (i32.const 2180) (local.get $len))
  (call $results (i32.const 2176) (i32.const 1) (i32.const 0) (i32.const 0)))
;; What `call` returns: a value, nothing, an error.
(func $return (param $json i32) (param $len i32) (result i32)
  (i32.store (i32.const 2304) (i32.const 0))
  (i32.store (i32.const 2308) (i32.const 1))
  (i32.store (i32.const 2312) (local.get $json))
  (i32.store (i32.const 2316) (local.get $len))
  (i32.const 2304))
(func $nothing (result i32)
  (i32.store (i32.const 2304) (i32.const 0))
  (i32.store (i32.const 2308) (i32.const 0))
  (i32.const 2304))
(func $fail (param $kind i32) (param $feedback i32) (param $len i32) (result i32)
  (i32.store (i32.const 2304) (i32.const 1))
  (i32.store (i32.const 2308) (local.get $kind))
  (i32.store (i32.const 2312) (local.get $feedback))
  (i32.store (i32.const 2316) (local.get $len))
  (i32.const 2304))
;; ---- unless $describe
(func $describe (result i32)
  (i32.store (i32.const 1024) (i32.const $LIST))
  (i32.store (i32.const 1028) (i32.const $COUNT))
  (i32.const 1024))
;; ---- unless $available
;; Every tool is available.
(func $available (param $tools i32) (param $n i32) (result i32)
  (local $i i32)
  (i32.store (i32.const 1032) (call $new (i32.shl (local.get $n) (i32.const 4))))
  (i32.store (i32.const 1036) (local.get $n))
  (block $done (loop $next
    (br_if $done (i32.eq (local.get $i) (local.get $n)))
    (i32.store8 (i32.add (i32.load (i32.const 1032)) (i32.shl (local.get $i) (i32.const 4))) (i32.const 1))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br $next)))
  (i32.const 1032))
;; ---- unless $run_if_true
;; No tool runs unchosen.
(func $run_if_true (param $tools i32) (param $n i32) (result i32)
  (i32.store (i32.const 1040) (call $new (i32.mul (local.get $n) (i32.const 12))))
  (i32.store (i32.const 1044) (local.get $n))
  (i32.const 1040))
;; ---- unless $call
(func $call (param $tool i32) (param i32) (param $inputs i32) (param $len i32) (result i32) (call $nothing))
