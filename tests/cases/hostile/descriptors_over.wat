;;! run = "describe"
;;! limits = { descriptors = "10B" }
;;! code = "invalid_output"
;;! limit = "descriptors"
