;;! limits = { inputs = "10B" }
;;! inputs = '{"a":"xxx"}'
;;! code = "invalid_inputs"
;;! limit = "inputs"
