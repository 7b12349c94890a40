;;! run = "describe"
;;! limits = { schema = "10B" }
;;! code = "invalid_output"
;;! limit = "schema"
