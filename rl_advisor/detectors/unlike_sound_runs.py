"""This run leaves the band in which earlier sound runs of the same set-up stayed.

Looks for: a metric that lies outside of what one more sound run would do for an eighth of the steps or more; only asked where earlier sound
    runs are named. A reward or score above its band is no fault, unless the reward is alone in it.
Means: something differs from the runs that went well: what left its band first is where to look, before the outcome shows it.
Not to be confused with: settings, data or a model that were changed on purpose; a band of one or two runs, which knows little of luck.
Next test: compare settings, code and data of this run with the sound ones at the metric that left its band first; then repeat this run
    with another seed: luck does not leave the band twice at the same place.
Source: prediction intervals of one more run; control charts.
"""

from rl_advisor.curves.band import Band, bands
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link, metric

LINK = Link.ENVIRONMENT_DATA
ROLE = Role.FAULT
WEIGHT = 1.5
NEEDS: tuple[str, ...] = ("sound",)


def detect(run: Run) -> Answer:
    """Present when a metric stays outside of its band."""
    raise NotImplementedError
