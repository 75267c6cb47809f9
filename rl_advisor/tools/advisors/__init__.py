"""Who judges: each module defines ``assess(run, ...)``."""

from pkgutil import iter_modules

ADVISORS = tuple(sorted((m.name for m in iter_modules(__path__) if not m.ispkg), key=lambda name: (name != "builtin", name)))
"""Their names, ours first: the folder is the registry, and none is loaded to be listed."""
