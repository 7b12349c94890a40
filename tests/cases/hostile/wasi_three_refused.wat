;;! run = "load"
;;! code = "interface"
;;! message = ["WASI 0.3", "wasi:clocks/monotonic-clock@0.3.0"]
(component
  (import "wasi:clocks/monotonic-clock@0.3.0" (instance)))
