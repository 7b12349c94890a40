;; 256 MiB to begin with is the most a plugin may declare.
;;! run = "load"
;;! code = "ok"
(memory (export "memory") 4096)
