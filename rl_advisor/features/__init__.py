"""Numbers with intervals out of arrays: pure functions over the steps and values of one or two curves."""

from rl_advisor.features.series import TooFewPoints

__all__ = ["TooFewPoints"]
