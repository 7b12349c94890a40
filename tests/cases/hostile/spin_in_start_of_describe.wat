;;! run = "describe"
;;! limits = { describe = { wall = "100ms" } }
;;! code = "deadline"
;;! limit = "describe.wall"
(func $begin (loop $forever (br $forever)))
(start $begin)
