;; Four yields of 300 bytes pass a limit of 1000 on all of a call together; the three before are kept.
;;! limits = { output = "1000B" }
;;! code = "output"
;;! limit = "output"
;;! n_yields = 3
(func $call (param i32 i32 i32 i32) (result i32)
  (memory.fill (i32.const 4096) (i32.const 120) (i32.const 300))
  (loop $again (call $yield_text (i32.const 4096) (i32.const 300)) (br $again))
  (unreachable))
