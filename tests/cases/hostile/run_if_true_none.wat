;;! run = "run-if-true"
;;! code = "ok"
;;! value = "[null]"
