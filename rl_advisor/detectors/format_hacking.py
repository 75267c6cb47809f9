"""The form of an answer is learned instead of its content.

Looks for: marked fields (tags, boxes) that hold nothing, or are repeated, and are paid no less than others; a format part of the reward
    that is at its ceiling while the part for being right fell or is at nothing.
Means: the format reward is the easy part, and the check of the content is weak or missing.
Not to be confused with: format learned first and content after it, and templates that name their fields.
Next test: gate the format reward by correctness, or grade known empty answers in perfect form.
Source: the format part saturates first, then the spread of the part for being right is gone.
"""

import re

import numpy as np

from rl_advisor.finding import Answer, Role, absent, present
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import onset, shift, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("rollouts",)
_FORMAT = re.compile(r"format|tag|struct|xml|json|box|template|schema|syntax|style", re.IGNORECASE)


def detect(run: Run) -> Answer:
    """Present when empty or repeated fields became common and paid, or form is at its ceiling while content fell."""
    s = stretches(run)
    fields = shift(s, "fields")
    hollow = {"empty_field": "hold an empty field", "repeated_field": "repeat a field"}
    s = _with_repeats(s)
    found, measures = [], {"fields_first": fields.first, "fields_latest": fields.latest}
    for column, words in hollow.items():
        low, _ = wilson(int(s.latest[column].sum()), len(s.latest))
        _, before = wilson(int(s.first[column].sum()), len(s.first))
        measures[f"{column}_latest"] = float(s.latest[column].mean())
        if low > max(0.05, before) and _paid(s, column):
            found.append((column, f"{percent(measures[f'{column}_latest'])} of the latest responses {words} and earn no less"))
    parts = _parts(s)
    found += [(column, text) for column, text in parts]
    if found:
        text = "; ".join(t for _, t in found) + "."
        return present(text[0].upper() + text[1:], onset(s, found[0][0]), measures, (samples(s),))
    text = (
        "The samples have no marked fields, and the reward has no format part."
        if fields.first == fields.latest == 0
        else "Marked fields are filled."
    )
    return absent(text, measures=measures, evidence=(samples(s),))


def _with_repeats(s: Stretches) -> Stretches:
    """The stretches with a column that says whether a response repeats a field more often than the first responses do at the median."""
    usual = max(1.0, float(s.first["fields"].median()))
    parts = (part.assign(repeated_field=(part["fields"] > 2 * usual).astype(np.float64)) for part in (s.first, s.latest, s.table))
    return Stretches(*parts)


def _paid(s: Stretches, column: str) -> bool:
    """Whether responses with the property are paid no less than the others of the latest samples, or the first ones when all have it."""
    has = s.latest[column] > 0
    others = s.latest.loc[~has, "reward"] if (~has).sum() >= 8 else s.first["reward"]
    return bool(s.latest.loc[has, "reward"].mean() >= others.mean())


def _parts(s: Stretches) -> list[tuple[str, str]]:
    """Format parts at their ceiling while a part for the content fell, or stands at its lowest value nearly everywhere."""
    names = [str(c) for c in s.table.columns if str(c).startswith("reward/")]
    form = [n for n in names if _FORMAT.search(n.removeprefix("reward/"))]
    found = []
    for name in form:
        mark, top = shift_or_none(s, name), float(s.table[name].max())
        full = mark is not None and mark.up and mark.latest > 0.9 * top
        for other in (n for n in names if n not in form) if full else ():
            content = shift_or_none(s, other)
            if content is not None and content.down and mark is not None:
                found.append((name, f"{name} went {mark.words}, its ceiling, while {other} went {content.words}"))
    return found
