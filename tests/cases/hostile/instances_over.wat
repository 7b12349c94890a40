;; A component takes at least three instances here: the module, and two that the encoder makes for imports.
;;! limits = { instances = 1 }
;;! code = "instances"
;;! limit = "instances"
