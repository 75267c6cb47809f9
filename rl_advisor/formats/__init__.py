"""How bytes become a Run, names as written: each module defines ``claims(path)`` and ``read(path)``."""
