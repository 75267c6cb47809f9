"""One failure pattern a module: its docstring is the manual page.

Each defines ``LINK``, ``ROLE``, ``NEEDS`` and ``detect(run)``, perhaps ``WEIGHT``, ``SPEAKS``, ``BRINGS`` and ``CHANGE``.
"""
