"""One failure pattern a module: each defines ``LINK``, ``NEEDS`` and ``detect(run)``; its docstring is the manual page."""
