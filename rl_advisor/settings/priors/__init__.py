"""What is usual: ranges by metric, method, framework, phase of training and weights, and the lookup that widens with ignorance.

The files beside this one hold the table, one a stage of the loop. A row may say for which circumstances it speaks; of a circumstance that
is not known, every row stays possible, and the answer is the hull of them all.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rl_advisor.curves.task import WITHOUT_REWARD
from rl_advisor.finding import number
from rl_advisor.settings.priors.bank import Usual, usual
from rl_advisor.vocabulary import metric as our_metric

Range = tuple[float, float]
ANYTHING = 100.0
"""Width of a range around 0 that says nothing."""
FEW = 2
"""Rows of which one says little against the other."""
Side = Literal["far_below", "below", "usual", "above", "far_above", "not_a_number"]
WIDER: Mapping[str, str] = {
    "grpo": "language", "ppo_language": "language", "preference": "language", "reward_model": "language", "supervised": "language",
    "ppo": "on_policy", "a2c": "on_policy", "dqn": "replay", "actor_critic_replay": "replay",
    "on_policy": "control", "replay": "control", "tabular": "control",
    "full": "pretrained", "lora": "pretrained",
}  # fmt: skip
"""A circumstance -> the wider one that it is part of. ``grpo`` stands for all that learn from groups without a critic (RLOO, DAPO, GSPO),
``actor_critic_replay`` for SAC, TD3, DDPG and their kin; ``language`` and ``control`` are the widest, beside ``diffusion``."""


@dataclass(frozen=True)
class Circumstances:
    """What is known of a run; None for what is not."""

    method: str | None = None
    """``grpo``, ``ppo_language``, ``ppo``, ``a2c``, ``dqn``, ``actor_critic_replay``, ``tabular``, ``diffusion``, or one of WIDER."""
    framework: str | None = None
    """The name of a dialect."""
    phase: str | None = None
    """``start`` (the first updates, warm-up), ``early`` (the first tenth) or ``late`` (all after it)."""
    weights: str | None = None
    """What is trained: ``full`` (a pretrained model whole), ``lora`` (an adapter), ``pretrained`` (either), ``small`` (from scratch)."""
    updates: str | None = None
    """Gradient updates that each batch of samples is used for: ``one`` or ``several``."""
    action: str | None = None
    """``discrete`` or ``continuous``."""

    @property
    def careful(self) -> "Circumstances":
        """The same after warm-up, with all weights trained where nothing says otherwise: what is usual there harms no adapter."""
        weights = "full" if self.weights in (None, "pretrained") else self.weights
        return replace(self, weights=weights, phase=self.phase or "late")


@dataclass(frozen=True)
class Prior:
    """What values of a metric are usual and possible in some circumstances, what values outside mean, and who says so."""

    metric: str
    usual: Range
    possible: Range
    """Beyond these a value is no matter of taste: something is broken."""
    below: str
    above: str
    inside: str
    """What a usual value means, where that is asked for: that it is no sign of progress, for instance."""
    source: str
    given: Circumstances
    seen: Usual | None = None
    """What sound runs of others showed, where that is known: it says what is usual, the row what is possible and what it means."""
    hull: tuple["Prior", ...] = ()
    """The rows of which this one is as wide as all, where it is not known which of them speaks."""

    def only(self, value: float) -> "Prior | None":
        """Of several rows that may speak the one by which alone a value is usual, or those that let anything through; None otherwise."""
        found = [row for row in self.hull if row.side(value) == "usual"]
        alone = len(found) == 1 or (not any(row.telling for row in found) and any(row.telling for row in self.hull))
        return min(found, key=lambda row: len(row.among)) if found and alone and len(self.hull) > FEW else None

    @property
    def middle(self) -> float:
        """A value in the midst of what is usual, by its powers of ten."""
        low, high = self.usual
        return math.sqrt(max(low, high / 100) * high)

    def side(self, value: float) -> Side:
        """Where a value lies."""
        if math.isnan(value):
            return "not_a_number"
        # A bound is met by a value that was rounded to single precision or to three digits.
        slack = 1e-3 * abs(value) if math.isfinite(value) else 0.0
        low, high = (self.seen.least, self.seen.most) if self.seen else self.usual
        if value < self.possible[0] - slack:
            return "far_below"
        if value > self.possible[1] + slack:
            return "far_above"
        return "below" if value < low - slack else "above" if value > high + slack else "usual"

    @property
    def range(self) -> str:
        """What is usual, in words."""
        low, high = self.usual
        return f"{number(low)} or more is usual" if math.isinf(high) else f"{number(low)} to {number(high)} is usual"

    @property
    def telling(self) -> bool:
        """Whether the range says anything: seen, or not as wide as any number that is written."""
        low, high = self.usual
        return bool(self.seen) or not low < 0 < high or high - low <= ANYTHING

    @property
    def among(self) -> str:
        """For whom the row speaks; empty where for all."""
        return ", ".join(w.replace("_", " ") for w in (self.given.method, self.given.framework, self.given.weights) if w)

    def says(self, value: float) -> str:
        """Where a value lies by the runs that were seen, or by the row and for whom it speaks, and what that means."""
        if not self.telling:
            return f"Sound runs show nearly any value. {self.means(value)}".strip()
        usual = self.seen.says(value) if self.seen else f"{self.range} ({self.among})." if self.among else f"{self.range}."
        return f"{usual} {self.means(value)}".strip()

    def means(self, value: float) -> str:
        """What the value's side means, in a sentence; empty where nothing is to be said."""
        side = self.side(value)
        return self.inside if side == "usual" else self.below if side.endswith("below") else self.above if side.endswith("above") else ""


def prior(metric: str, known: Circumstances | None = None) -> Prior | None:
    """What is usual for a metric in the known circumstances; None for a metric without a row.

    ``metric`` is a name of the vocabulary, or ``setting/<name>`` for what is only set and never logged.
    """
    known = known or Circumstances()
    rows = [row for row in table().get(_in_table(metric), ()) if _speaks(row.given, known, surely=False)]
    if known.method in WITHOUT_REWARD:  # what is learned there is another thing than a policy, whatever it is made of
        rows = [row for row in rows if row.given.method == known.method] or rows
    sure = [row for row in rows if _speaks(row.given, known, surely=True)]
    # A row that surely speaks, and of more than another, replaces it; what only might speak widens the answer.
    left = [row for row in rows if not any(_narrower(other.given, row.given) for other in sure)]
    return _with_seen(_hull(left) if left else None, metric, known)


def _with_seen(row: Prior | None, metric: str, known: Circumstances) -> Prior | None:
    """A row with what sound runs showed, unless the table tells apart by a known circumstance what they mix."""
    seen, rows = usual(_in_table(metric), known), table().get(_in_table(metric), ())
    if seen is None:
        return row
    mixed = any(getattr(known, name) and any(getattr(r.given, name) for r in rows) for name in ("weights", "updates", "action"))
    of_many = "/" not in seen.group and any(r.given.framework and r.given.framework == known.framework for r in rows)
    if mixed or of_many:
        return row
    source = f"{seen.runs} sound runs of {seen.repositories} repositories"
    if row is None:
        return Prior(metric, (seen.low, seen.high), (-math.inf, math.inf), "", "", "", source, known, seen)
    return replace(row, source=f"{source}; {row.source}", seen=seen)


@cache
def table() -> Mapping[str, tuple[Prior, ...]]:
    """Every row by its metric, read from the files of this folder."""
    found: dict[str, tuple[Prior, ...]] = {}
    for file in sorted(Path(__file__).parent.glob("*.toml")):
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            found[name] = tuple(_rows(name, entry))
    return found


def wider(value: str) -> Iterator[str]:
    """The circumstance and all that it is part of, the narrowest first."""
    yield value
    while value in WIDER:
        value = WIDER[value]
        yield value


def _in_table(metric: str) -> str:
    known = our_metric(metric)
    return known.name if known is not None and metric not in table() else metric


def _rows(name: str, entry: Mapping[str, Any]) -> Iterator[Prior]:
    """The rows of one metric; what a row does not say of its own is said for the whole metric."""
    for row in entry["rows"]:
        text = {key: row.get(key, entry.get(key, "")) for key in ("below", "above", "inside")}
        usual, possible = _range(row["usual"]), _range(row.get("possible", (-math.inf, math.inf)))
        given = Circumstances(**{key: row[key] for key in vars(Circumstances()).keys() & row.keys()})
        yield Prior(name, usual, possible, **text, source=row["source"], given=given)


def _range(values: Sequence[float]) -> Range:
    low, high = values
    return float(low), float(high)


def _speaks(row: Circumstances, known: Circumstances, *, surely: bool) -> bool:
    """Whether what a row asks for is so; of what is not known, whether it may be, or ``surely`` is."""
    for name, asked in vars(row).items():
        here = vars(known)[name]
        if asked and (surely if here is None else asked not in wider(here) and (surely or here not in wider(asked))):
            return False
    return True


def _narrower(one: Circumstances, other: Circumstances) -> bool:
    """Whether ``one`` speaks of a part of what ``other`` speaks of, and not of all of it."""
    return one != other and _speaks(other, one, surely=True)


def _hull(rows: Sequence[Prior]) -> Prior:
    """The one row, or one as wide as all of them, which says of a side what the row says that reaches farthest there."""
    widest = min(rows, key=lambda r: sum(map(bool, vars(r.given).values())))
    shared = {name: asked for name, asked in vars(widest.given).items() if all(asked == vars(r.given)[name] for r in rows)}
    low, high = min(rows, key=lambda r: r.usual[0]), max(rows, key=lambda r: r.usual[1])
    return replace(
        widest,
        usual=(low.usual[0], high.usual[1]),
        possible=(min(r.possible[0] for r in rows), max(r.possible[1] for r in rows)),
        given=Circumstances(**shared),
        below=low.below,
        above=high.above,
        source="; ".join(dict.fromkeys((low.source, high.source))),
        hull=tuple(rows) if len(rows) > 1 else (),
    )
