;;! run = "load"
;;! code = "memory"
;;! limit = "memory"
(memory (export "memory") 4097)
