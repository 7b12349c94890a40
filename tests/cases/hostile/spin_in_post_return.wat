;; Cleaning up after the answer is part of the call.
;;! limits = { wall = "150ms" }
;;! code = "deadline"
;;! limit = "wall"
(func (export "cabi_post_elysia:plugin/tools@0.1.0#call") (param i32) (loop $forever (br $forever)))
