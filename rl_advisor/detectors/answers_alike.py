"""Different prompts get the same answer: behaviour has collapsed, whatever the reward says.

Looks for: the share of different answers, inside a group and across prompts, far below that of the first samples.
Means: the policy has found one text that is paid and says it to everyone. The reward no longer compares anything, and token entropy may not
    show it.
Not to be confused with: prompts whose right answer is one word (there the first samples are alike too); a reward that rises because
    right answers agree, where the held-out score rises with it.
Next test: read ten of the most frequent answers beside their prompts; draw the same prompts at a higher temperature.
Source: the practitioner's guide (all outputs look the same); the field guide on uniform behaviour with a high reward.
"""

from typing import TYPE_CHECKING

import numpy as np

from rl_advisor.finding import Answer, Outcome, Role, absent
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import stretches
from rl_advisor.samples.text_change import onset, shift_or_none, wilson
from rl_advisor.samples.text_signs import held_out_rose, samples
from rl_advisor.vocabulary import Link

if TYPE_CHECKING:
    import pandas as pd

LINK = Link.EXPLORATION
ROLE = Role.CONSEQUENCE
SPEAKS = {"collapsed": 1.0, "reward_hacking": 1.0}
NEEDS: tuple[str, ...] = ("rollouts",)
CHANGE: tuple[tuple[str, str], ...] = (("temperature", "one and a half times"), ("entropy_coef", "three times"))


def detect(run: Run, left: float = 0.5) -> Answer:
    """Present when fewer than ``left`` as many answers differ as at the start, beyond chance, and no held-out score rose meanwhile."""
    s = stretches(run)
    first, latest = different(s.first), different(s.latest)
    low, high = wilson(round(latest * len(s.latest)), len(s.latest))
    common = s.latest["response"].value_counts()
    measures = {"different_first": first, "different_latest": latest, "latest_low": low, "latest_high": high}
    text = f"{percent(latest)} of the latest answers are distinct, {percent(first)} of the first"
    if not (first > 0.3 and high < left * first):
        return absent(f"{text}.", measures=measures, evidence=(samples(s),))
    measures["most_frequent"] = float(common.iloc[0] / len(s.latest))
    text += f"; the most frequent one is {percent(measures['most_frequent'])} of them"
    gain = shift_or_none(s, "reward")
    outcome = Outcome.UNCLEAR if held_out_rose(run) else Outcome.PRESENT
    text += f", while the reward went {gain.words}" if gain is not None and outcome is Outcome.PRESENT else ""
    return Answer(outcome, f"{text}.", onset(s, "variety") if outcome is Outcome.PRESENT else None, measures, (samples(s),))


def different(rows: "pd.DataFrame") -> float:
    """Share of different texts among answers, of as many as there are."""
    return float(rows["response"].nunique() / max(1, np.isfinite(rows["step"]).sum()))
