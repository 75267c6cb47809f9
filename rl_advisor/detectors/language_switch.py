"""Responses change over to a script or a language that their prompts are not written in.

Looks for: the share of a response's letters in scripts that its prompt does not use (Han in an answer to an English question), and the
    share of its passages in another language of the same script (by their commonest small words), latest against first samples, and whether
    it is paid among responses to one prompt.
Means: nothing in the reward asks for the prompt's language, so the policy mixes what it finds cheapest; often the first sign that text
    drifts away from what people can read.
Not to be confused with: tasks that ask for a translation or for symbols (the first samples do it as well); code, formulas, names and loan
    words, which hold too few small words to count; languages that are not among those whose small words are known.
Next test: add a small reward for the prompt's language, or read ten of the flagged responses for whether their sense is kept.
Source: reports on language mixing in long reasoning trained by outcome alone (arXiv 2501.12948).
"""

from dataclasses import dataclass

import numpy as np

from rl_advisor.finding import Answer, Outcome, Role, number, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import Shift, onset, pays, shift_or_none, wilson
from rl_advisor.samples.text_signs import samples
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = ("rollouts",)
_MIXED = {"foreign": 0.05, "other_language": 0.2}
"""Share of foreign letters, or of passages in another language, from which a response is called mixed: a name stays below."""
_WHAT = {"foreign": "letters in scripts that the prompt does not use", "other_language": "passages in another language than the prompt's"}


@dataclass(frozen=True)
class _Mix:
    """How one kind of mixing changed: its mean, and the share of mixed responses with its interval and the upper end it began at."""

    column: str
    change: Shift
    first: float
    latest: float
    low: float
    high: float
    before: float

    @property
    def there(self) -> bool:
        return self.change.up and self.low > self.before

    @property
    def words(self) -> str:
        share = f"{percent(self.latest)} of the latest responses are mixed ({percent(self.first)} at the start)"
        return f"the share of {_WHAT[self.column]} went {self.change.words}; {share}"


def detect(run: Run) -> Answer:
    """Present when mixed responses became more common than at the start by more than chance, in script or in language."""
    s = stretches(run)
    known = [mix for column in _MIXED if (mix := _mix(s, column)) is not None]
    if not known:
        return unclear("Too few prompts and responses with letters to compare their scripts.")
    measures = {
        f"{m.column}_{k}": v for m in known for k, v in (("first", m.change.first), ("latest", m.change.latest), ("mixed", m.latest))
    }
    told = max(known, key=lambda m: (m.there, m.low - m.before))
    text = f"The {told.words}"
    if told.there:
        pay = pays(s, told.column)
        text += (
            ""
            if pay is None
            else f"; the reward goes with it (rank correlation {number(pay.rho)}, {number(pay.low)} to {number(pay.high)})"
        )
        return present(f"{text}.", onset(s, told.column), measures, (samples(s),))
    outcome = Outcome.ABSENT if all(m.high < 0.1 or not m.change.up for m in known) else Outcome.UNCLEAR
    return Answer(outcome, f"{text}.", measures=measures, evidence=(samples(s),))


def _mix(s: Stretches, column: str) -> _Mix | None:
    change = shift_or_none(s, column)
    if change is None:
        return None
    told = [part[column].to_numpy(np.float64) for part in (s.first, s.latest)]
    first, latest = (values[np.isfinite(values)] > _MIXED[column] for values in told)
    low, high = wilson(int(latest.sum()), len(latest))
    _, before = wilson(int(first.sum()), len(first))
    return _Mix(column, change, float(first.mean()), float(latest.mean()), low, high, before)
