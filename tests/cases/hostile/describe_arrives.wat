;; What a guest describes arrives as it gave it.
;;! run = "describe"
;;! code = "ok"
;;! value = 'guest {"type":"object","additionalProperties":true}'
