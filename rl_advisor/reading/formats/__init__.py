"""How bytes become a Run, names as written: each module defines ``claims(path, ask)`` and ``read(path, ask)``."""
