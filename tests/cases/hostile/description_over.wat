;;! run = "describe"
;;! limits = { description = "10B" }
;;! code = "invalid_output"
;;! limit = "description"
