"""Responses say nothing of their own: they are empty, or they copy their prompt.

Looks for: the share of responses without a letter or digit, and the share of those most of which stands word for word in their prompt,
    latest against first samples; and whether the reward went along.
Means: the end token came cheap (a penalty on length or on mistakes makes silence the best answer), or the checker finds what it looks for
    in the question's own words.
Not to be confused with: tasks that answer in a symbol (the first samples do it as well); a question that is restated before it is answered,
    which is a small part of a response; tasks that ask to repeat or to correct a text, where copying comes with the reward (left open).
Next test: give the verifier an empty answer, and the prompt itself: neither may be paid.
Source: reward-free silence and echoes are the cheapest ends of an episode; emptiness and copying are what a reader checks first.
"""

from dataclasses import dataclass

import numpy as np

from rl_advisor.finding import Answer, Outcome, Role, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import onset, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("rollouts",)
_MOSTLY = {"empty": 0.5, "copied": 0.5}
"""Share of a response that must be so."""
_COMMON = 0.1
_WORDS = {"empty": "are empty", "copied": "mostly copy their prompt"}


def detect(run: Run) -> Answer:
    """Present when empty or copied responses became common, by more than chance; unclear when copies did and the reward rose with them."""
    s = stretches(run)
    shares = [_share(s, column) for column in _MOSTLY]
    measures = {f"{h.column}_{k}": v for h in shares for k, v in (("first", h.first), ("latest", h.latest))}
    said = " and ".join(f"{percent(h.latest)} {_WORDS[h.column]} ({percent(h.first)} at the start)" for h in shares)
    text, told = f"Of the latest responses {said}", next((h for h in shares if h.common), None)
    if told is None:
        outcome = Outcome.UNCLEAR if any(h.may_be for h in shares) else Outcome.ABSENT
        return Answer(outcome, f"{text}.", measures=measures, evidence=(samples(s),))
    gain = shift_or_none(s, "reward")
    if told.column == "copied" and gain is not None and gain.up:
        text += f"; the reward rose with it ({gain.words}), as it should where the task is to repeat or correct a text"
        return unclear(f"{text}.", measures=measures, evidence=(samples(s),))
    text += "" if gain is None else f"; the reward of the samples went {gain.words}"
    return present(f"{text}.", onset(s, told.column), measures, (samples(s),))


@dataclass(frozen=True)
class _Hollow:
    column: str
    first: float
    latest: float
    common: bool
    may_be: bool


def _share(s: Stretches, column: str) -> _Hollow:
    """The share of responses that are mostly so, first and latest, and whether that became common by more than chance, or may have."""
    first, latest = (part[column].to_numpy(np.float64) > _MOSTLY[column] for part in (s.first, s.latest))
    low, high = wilson(int(latest.sum()), len(latest))
    _, before = wilson(int(first.sum()), len(first))
    change = shift_or_none(s, column)
    up = change is not None and change.up
    common = up and low > max(_COMMON, before)
    return _Hollow(column, float(first.mean()), float(latest.mean()), common, up and not common and high > max(_COMMON, before))
