"""How files of strangers come in: bytes, lines, tables, rows and columns, each bounded. What formats share."""
