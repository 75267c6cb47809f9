"""An assessment as a page: each module defines ``SUFFIX``, ``render(run, assessment)`` and ``compared(runs, answer)``; none computes."""
