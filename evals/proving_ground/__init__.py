"""Thousands of small trainings that really learn, with faults of known onset and dose, logged as badly as people log.

``faults`` says what is broken, ``tokens`` and ``control`` train, ``truth`` labels, ``logs`` writes what a stranger would find,
``make`` makes the set. ``README.md`` is the datasheet.
"""
