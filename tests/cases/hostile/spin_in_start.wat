;; Code that runs while instantiating is under the same clocks.
;;! limits = { wall = "150ms" }
;;! code = "deadline"
;;! limit = "wall"
(func $begin (loop $forever (br $forever)))
(start $begin)
