;; A table that begins too large is refused while instantiating.
;;! limits = { tables = 2000 }
;;! code = "tables"
;;! limit = "tables"
(table $t 3000 funcref)
