"""An assessment as a page: each module defines ``SUFFIX`` and ``render(run, assessment)``. They compute nothing."""
