"""Numbers out of arrays: pure functions, numerical libraries and nothing of ours. Array in, number with its interval out."""


class TooFewPoints(ValueError):
    """A feature was given fewer points than it needs to give a number."""
