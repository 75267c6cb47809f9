"""Numbers with intervals out of arrays: pure functions over the steps and values of one or two curves."""


class TooFewPoints(ValueError):  # noqa: N818 - the name reads as the condition, like KeyError's cousins LookupError and StopIteration
    """A feature was asked of a curve with fewer finite points than it needs."""
