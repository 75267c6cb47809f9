"""Who judges: each module defines ``assess(run, ...)``."""
