;; What runs before `call` may not speak.
;;! code = "trap"
;;! message = ["yield-text", "tools.call"]
;;! n_yields = 0
(func (export "_initialize") (call $yield_text @"hi"))
