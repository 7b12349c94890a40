;; A tool that does what its inputs say; see `guests::puppet`. Inputs come from the host as compact JSON, so the parser
;; knows only what can be in `{"do":[["verb","argument",…],…]}`.
(import "elysia:plugin/http@0.1.0" "fetch" (func $fetch (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
(import "wasi:io/poll@0.2.0" "[resource-drop]pollable" (func $drop_pollable (param i32)))
(import "wasi:cli/exit@0.2.0" "exit" (func $exit (param i32)))
(import "wasi:cli/environment@0.2.0" "get-environment" (func $get_environment (param i32)))
(import "wasi:cli/stdout@0.2.0" "get-stdout" (func $get_stdout (result i32)))
(import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush"
  (func $write_out (param i32 i32 i32 i32)))
(import "wasi:filesystem/preopens@0.2.0" "get-directories" (func $get_directories (param i32)))
(import "wasi:filesystem/types@0.2.0" "[method]descriptor.open-at"
  (func $open_at (param i32 i32 i32 i32 i32 i32 i32)))
(import "wasi:filesystem/types@0.2.0" "[method]descriptor.read" (func $read (param i32 i64 i64 i32)))
(import "wasi:filesystem/types@0.2.0" "[method]descriptor.write" (func $write (param i32 i32 i32 i64 i32)))

(global $at (mut i32) (i32.const 0))       ;; the next byte of the inputs
(global $returned (mut i32) (i32.const 0)) ;; what `call` will return; 0: nothing
(global $a (mut i32) (i32.const 0)) (global $an (mut i32) (i32.const 0)) ;; first argument
(global $b (mut i32) (i32.const 0)) (global $bn (mut i32) (i32.const 0)) ;; second
(global $c (mut i32) (i32.const 0)) (global $cn (mut i32) (i32.const 0)) ;; third
(global $v (mut i32) (i32.const 0)) (global $vn (mut i32) (i32.const 0)) ;; verb

(func $hex (param $c i32) (result i32)
  (if (result i32) (i32.lt_u (local.get $c) (i32.const 58))
    (then (i32.sub (local.get $c) (i32.const 48)))
    (else (i32.sub (i32.or (local.get $c) (i32.const 32)) (i32.const 87)))))

;; Reads the string that begins at $at into fresh memory; its length is left in memory at 3000.
(func $string (result i32)
  (local $out i32) (local $n i32) (local $c i32) (local $p i32)
  (local.set $p (i32.add (global.get $at) (i32.const 1)))
  ;; As much room as there may be until the closing quote.
  (local.set $out (call $new (i32.add (call $length (local.get $p)) (i32.const 1))))
  (block $end (loop $next
    (local.set $c (i32.load8_u (local.get $p)))
    (br_if $end (i32.eq (local.get $c) (i32.const 34)))
    (if (i32.eq (local.get $c) (i32.const 92)) (then
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (local.set $c (i32.load8_u (local.get $p)))
      (if (i32.eq (local.get $c) (i32.const 110)) (then (local.set $c (i32.const 10))))
      (if (i32.eq (local.get $c) (i32.const 114)) (then (local.set $c (i32.const 13))))
      (if (i32.eq (local.get $c) (i32.const 116)) (then (local.set $c (i32.const 9))))
      (if (i32.eq (local.get $c) (i32.const 117)) (then
        (local.set $c (i32.or
          (i32.shl (call $hex (i32.load8_u offset=3 (local.get $p))) (i32.const 4))
          (call $hex (i32.load8_u offset=4 (local.get $p)))))
        (local.set $p (i32.add (local.get $p) (i32.const 4)))))))
    (i32.store8 (i32.add (local.get $out) (local.get $n)) (local.get $c))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (local.set $p (i32.add (local.get $p) (i32.const 1)))
    (br $next)))
  (global.set $at (i32.add (local.get $p) (i32.const 1)))
  (i32.store (i32.const 3000) (local.get $n))
  (local.get $out))

(func $length (param $p i32) (result i32)
  (local $n i32)
  (block $end (loop $next
    (br_if $end (i32.eq (i32.load8_u (i32.add (local.get $p) (local.get $n))) (i32.const 34)))
    (if (i32.eq (i32.load8_u (i32.add (local.get $p) (local.get $n))) (i32.const 92))
      (then (local.set $n (i32.add (local.get $n) (i32.const 1)))))
    (local.set $n (i32.add (local.get $n) (i32.const 1)))
    (br $next)))
  (local.get $n))

;; Whether a comma is next; if so it is passed.
(func $comma (result i32)
  (if (i32.eq (i32.load8_u (global.get $at)) (i32.const 44))
    (then (global.set $at (i32.add (global.get $at) (i32.const 1))) (return (i32.const 1))))
  (i32.const 0))

(func $equal (param $p i32) (param $n i32) (param $q i32) (param $m i32) (result i32)
  (local $i i32)
  (if (i32.ne (local.get $n) (local.get $m)) (then (return (i32.const 0))))
  (loop $next
    (if (i32.lt_u (local.get $i) (local.get $n)) (then
      (if (i32.ne (i32.load8_u (i32.add (local.get $p) (local.get $i)))
                  (i32.load8_u (i32.add (local.get $q) (local.get $i)))) (then (return (i32.const 0))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br $next))))
  (i32.const 1))

(func $is (param $p i32) (param $n i32) (result i32)
  (call $equal (global.get $v) (global.get $vn) (local.get $p) (local.get $n)))

(func $number (param $p i32) (param $n i32) (result i32)
  (local $x i32)
  (loop $next
    (if (local.get $n) (then
      (local.set $x (i32.add (i32.mul (local.get $x) (i32.const 10))
                             (i32.sub (i32.load8_u (local.get $p)) (i32.const 48))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $next))))
  (local.get $x))

;; Yields the option<string> at 3072.
(func $tell
  (if (i32.load8_u (i32.const 3072))
    (then (call $yield_text (i32.load (i32.const 3076)) (i32.load (i32.const 3080))))
    (else (call $yield_text @"none"))))

(func $tell_error (param $code i32)
  (local $p i32)
  (local.set $p (call $new (i32.const 8)))
  (i64.store (local.get $p) (i64.const 0x2020726f727265)) ;; "error  "
  (i32.store8 offset=6 (local.get $p) (i32.add (i32.const 48) (i32.div_u (local.get $code) (i32.const 10))))
  (i32.store8 offset=7 (local.get $p) (i32.add (i32.const 48) (i32.rem_u (local.get $code) (i32.const 10))))
  (call $yield_text (local.get $p) (i32.const 8)))

(func $kind (result i32)
  (if (call $equal (global.get $a) (global.get $an) @"invalid-inputs") (then (return (i32.const 0))))
  (if (call $equal (global.get $a) (global.get $an) @"not-found") (then (return (i32.const 1))))
  (if (call $equal (global.get $a) (global.get $an) @"unavailable") (then (return (i32.const 2))))
  (if (call $equal (global.get $a) (global.get $an) @"rate-limited") (then (return (i32.const 3))))
  (if (call $equal (global.get $a) (global.get $an) @"denied") (then (return (i32.const 4))))
  (i32.const 5))

(func $sleep (param $ms i32)
  (local $pollable i32)
  (local.set $pollable (call $subscribe (i64.mul (i64.extend_i32_u (local.get $ms)) (i64.const 1000000))))
  (call $block (local.get $pollable))
  (call $drop_pollable (local.get $pollable)))

;; Opens $a in the first granted folder: -1 when there is none or it fails, which is then told.
(func $open (param $open_flags i32) (param $flags i32) (result i32)
  (call $get_directories (i32.const 3072))
  (if (i32.eqz (i32.load (i32.const 3076))) (then (call $yield_text @"none") (return (i32.const -1))))
  (call $open_at (i32.load (i32.load (i32.const 3072))) (i32.const 1) (global.get $a) (global.get $an)
    (local.get $open_flags) (local.get $flags) (i32.const 3088))
  (if (i32.load8_u (i32.const 3088))
    (then (call $tell_error (i32.load8_u (i32.const 3092))) (return (i32.const -1))))
  (i32.load (i32.const 3092)))

(func $read_file
  (local $file i32)
  (local.set $file (call $open (i32.const 0) (i32.const 1)))
  (if (i32.eq (local.get $file) (i32.const -1)) (then (return)))
  (call $read (local.get $file) (i64.const 65536) (i64.const 0) (i32.const 3104))
  (if (i32.load8_u (i32.const 3104))
    (then (call $tell_error (i32.load8_u (i32.const 3108))))
    (else (call $yield_text (i32.load (i32.const 3108)) (i32.load (i32.const 3112))))))

(func $write_file
  (local $file i32)
  ;; create and truncate; write
  (local.set $file (call $open (i32.const 9) (i32.const 2)))
  (if (i32.eq (local.get $file) (i32.const -1)) (then (return)))
  (call $write (local.get $file) (global.get $b) (global.get $bn) (i64.const 0) (i32.const 3104))
  (if (i32.load8_u (i32.const 3104))
    (then (call $tell_error (i32.load8_u (i32.const 3112))))
    (else (call $yield_text @"written"))))

;; One line `NAME=VALUE` each.
(func $tell_environment
  (local $i i32) (local $p i32) (local $q i32) (local $n i32)
  (call $get_environment (i32.const 3072))
  (if (i32.eqz (i32.load (i32.const 3076))) (then (call $yield_text @"none") (return)))
  (loop $next
    (local.set $p (i32.add (i32.load (i32.const 3072)) (i32.shl (local.get $i) (i32.const 4))))
    (local.set $n (i32.add (i32.add (i32.load offset=4 (local.get $p)) (i32.load offset=12 (local.get $p))) (i32.const 1)))
    (local.set $q (call $new (local.get $n)))
    (memory.copy (local.get $q) (i32.load (local.get $p)) (i32.load offset=4 (local.get $p)))
    (i32.store8 (i32.add (local.get $q) (i32.load offset=4 (local.get $p))) (i32.const 61))
    (memory.copy (i32.add (i32.add (local.get $q) (i32.load offset=4 (local.get $p))) (i32.const 1))
      (i32.load offset=8 (local.get $p)) (i32.load offset=12 (local.get $p)))
    (call $yield_text (local.get $q) (local.get $n))
    (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $next (i32.lt_u (local.get $i) (i32.load (i32.const 3076))))))

(func $do
  (local $p i32) (local $n i32)
  (if (call $is @"text") (then (call $yield_text (global.get $a) (global.get $an)) (return)))
  (if (call $is @"status") (then (call $yield_status (global.get $a) (global.get $an)) (return)))
  (if (call $is @"warning") (then (call $yield_warning (global.get $a) (global.get $an)) (return)))
  (if (call $is @"log") (then (call $log (i32.const 2) (global.get $a) (global.get $an)) (return)))
  (if (call $is @"progress") (then
    (call $yield_progress (call $number (global.get $a) (global.get $an)) (call $number (global.get $b) (global.get $bn)))
    (return)))
  (if (call $is @"result") (then
    (i32.store (i32.const 2176) (global.get $a))
    (i32.store (i32.const 2180) (global.get $an))
    (call $results (i32.const 2176) (i32.const 1) (global.get $b) (global.get $bn))
    (return)))
  (if (call $is @"empty") (then
    (call $results (i32.const 0) (i32.const 0) (global.get $a) (global.get $an))
    (return)))
  (if (call $is @"cite") (then
    (i32.store (i32.const 2560) (global.get $a))
    (i32.store (i32.const 2564) (global.get $an))
    (i32.store (i32.const 2568) (i32.const 2576))
    (i32.store (i32.const 2572) (i32.const 1))
    (i32.store (i32.const 2576) (global.get $b))
    (i32.store (i32.const 2580) (global.get $bn))
    (call $yield_cited_text (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2560) (i32.const 1))
    (return)))
  (if (call $is @"fail") (then
    (global.set $returned (call $fail (call $kind) (global.get $b) (global.get $bn)))
    (return)))
  (if (call $is @"return") (then
    (global.set $returned (call $return (global.get $a) (global.get $an)))
    (return)))
  (if (call $is @"trap") (then (unreachable)))
  (if (call $is @"spin") (then (loop $forever (br $forever))))
  (if (call $is @"sleep") (then (call $sleep (call $number (global.get $a) (global.get $an))) (return)))
  (if (call $is @"exit") (then (call $exit (i32.ne (call $number (global.get $a) (global.get $an)) (i32.const 0))) (return)))
  (if (call $is @"grow") (then
    (if (i32.eq (memory.grow (call $number (global.get $a) (global.get $an))) (i32.const -1))
      (then (call $yield_text @"refused")) (else (call $yield_text @"grown")))
    (return)))
  (if (call $is @"big") (then
    (local.set $n (call $number (global.get $a) (global.get $an)))
    (local.set $p (call $new (local.get $n)))
    (memory.fill (local.get $p) (i32.const 120) (local.get $n))
    (call $yield_text (local.get $p) (local.get $n))
    (return)))
  (if (call $is @"set") (then
    (call $state_set (global.get $a) (global.get $an) (global.get $b) (global.get $bn) (i32.const 3072))
    (if (i32.load8_u (i32.const 3072))
      (then (call $yield_text (i32.load (i32.const 3076)) (i32.load (i32.const 3080)))))
    (return)))
  (if (call $is @"get") (then (call $state_get (global.get $a) (global.get $an) (i32.const 3072)) (call $tell) (return)))
  (if (call $is @"remove") (then (call $state_remove (global.get $a) (global.get $an)) (return)))
  (if (call $is @"object") (then (call $object (global.get $a) (global.get $an) (i32.const 3072)) (call $tell) (return)))
  (if (call $is @"latest") (then
    (call $latest (global.get $a) (global.get $an) (global.get $b) (global.get $bn) (i32.const 3072))
    ;; option<entry>: the first object of it
    (if (i32.load8_u (i32.const 3072)) (then
      (if (i32.load (i32.const 3088)) (then
        (call $yield_text (i32.load (i32.load (i32.const 3084))) (i32.load offset=4 (i32.load (i32.const 3084))))
        (return)))))
    (call $yield_text @"none")
    (return)))
  (if (call $is @"prompt") (then
    (call $prompt (i32.const 3072)) (call $yield_text (i32.load (i32.const 3072)) (i32.load (i32.const 3076))) (return)))
  (if (call $is @"now") (then
    (call $now (i32.const 3072)) (call $yield_text (i32.load (i32.const 3072)) (i32.load (i32.const 3076))) (return)))
  (if (call $is @"env") (then (call $tell_environment) (return)))
  (if (call $is @"print") (then
    (call $write_out (call $get_stdout) (global.get $a) (global.get $an) (i32.const 3072)) (return)))
  (if (call $is @"read") (then (call $read_file) (return)))
  (if (call $is @"write") (then (call $write_file) (return)))
  (if (call $is @"fetch") (then
    (call $fetch @"GET" (global.get $a) (global.get $an) (i32.const 0) (i32.const 0)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 3072))
    ;; result<response, http-error>: the error's text
    (if (i32.load8_u (i32.const 3072))
      (then (call $yield_text (i32.load (i32.const 3080)) (i32.load (i32.const 3084))))
      (else (call $yield_text @"answered")))
    (return)))
  (if (call $is @"repeat") (then
    (local.set $n (call $number (global.get $a) (global.get $an)))
    (global.set $v (global.get $b)) (global.set $vn (global.get $bn))
    (global.set $a (global.get $c)) (global.set $an (global.get $cn))
    (global.set $bn (i32.const 0))
    (loop $again
      (if (local.get $n) (then
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (call $do)
        (br $again))))
    (return)))
  (call $yield_warning @"the puppet does not know this verb"))

(func $call (param $tool i32) (param $tool_len i32) (param $inputs i32) (param $len i32) (result i32)
  ;; Behind `{"do":[`.
  (global.set $at (i32.add (local.get $inputs) (i32.const 7)))
  (block $done (loop $next
    (br_if $done (i32.ne (i32.load8_u (global.get $at)) (i32.const 91)))
    (global.set $at (i32.add (global.get $at) (i32.const 1)))
    (global.set $an (i32.const 0)) (global.set $bn (i32.const 0)) (global.set $cn (i32.const 0))
    (global.set $v (call $string)) (global.set $vn (i32.load (i32.const 3000)))
    (if (call $comma) (then (global.set $a (call $string)) (global.set $an (i32.load (i32.const 3000)))))
    (if (call $comma) (then (global.set $b (call $string)) (global.set $bn (i32.load (i32.const 3000)))))
    (if (call $comma) (then (global.set $c (call $string)) (global.set $cn (i32.load (i32.const 3000)))))
    ;; Behind `]`.
    (global.set $at (i32.add (global.get $at) (i32.const 1)))
    (call $do)
    (br_if $done (global.get $returned))
    (drop (call $comma))
    (br $next)))
  (if (global.get $returned) (then (return (global.get $returned))))
  (call $nothing))
