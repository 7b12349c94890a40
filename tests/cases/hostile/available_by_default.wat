;;! run = "available"
;;! code = "ok"
;;! value = "true"
