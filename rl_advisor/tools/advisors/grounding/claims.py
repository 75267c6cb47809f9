"""What a model claims about a run, as data: each claim is held against the log and stands or falls with a plain reason."""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rl_advisor.finding import Verdict
from rl_advisor.output.wording import pair, percent, plain, value
from rl_advisor.run import Curve, Run
from rl_advisor.tools.advisors.grounding.points import Points, WrongClaim, number

Says = Literal["is", "went", "rose", "fell", "flat", "highest", "lowest", "above", "below"]
Shown = Mapping[str, Sequence[float | str]]
"""What the tools showed, by the dotted path of each value."""
FARTHEST = 1e15
"""Steps beyond which nobody counts."""
COMPARED = 400
"""Names that an unknown one is compared with, so that a hundred unknown ones take no time."""
HOLDERS = frozenset({"measures", "config", "settings", "metrics", "statistics"})
"""Pieces of a path that say where a value stands, and nothing about what it is."""


class Claim(BaseModel):
    """One thing that the log shows."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    metric: str = Field(
        min_length=1,
        max_length=200,
        description="A logged metric, by the run's name or ours; or the dotted path of a value in a tool's answer, "
        "as findings.truncation.measures.now or load_run.config.beta.",
    )
    says: Says = Field(
        default="is",
        description="is: `value` at `step`. went: from `from_value` at `from_step` to `value` at `step`, no direction claimed. "
        "rose, fell, flat: measured so between the steps. highest, lowest: the extreme of the curve. above, below: all points of the "
        "stretch against `value`.",
    )
    value: float | str | None = Field(default=None, description="As a tool showed it; text only for a path.")
    step: float | None = Field(default=None, ge=-FARTHEST, le=FARTHEST, description="The last when left out.")
    from_value: float | None = None
    from_step: float | None = Field(default=None, ge=-FARTHEST, le=FARTHEST, description="The first when left out.")
    unit: str = Field(default="", max_length=20, description="percent, where a share is given as percent; else may be left out.")
    speaks_for: Verdict | None = Field(default=None, description="The verdict it speaks for; yours when left out.")


@dataclass(frozen=True)
class Checked:
    """A claim with what became of it."""

    claim: Claim
    says: str = ""
    """The claim in our words, numbers as logged; empty when it does not stand."""
    why: str = ""
    """Why it does not stand; empty when it does."""
    metric: str | None = None
    """Our name of the curve it rests on."""
    steps: tuple[float, float] | None = None


class Evidence:
    """What claims are held against: a run, and what the tools showed of it."""

    def __init__(self, run: Run, shown: Sequence[tuple[str, Any]], aliases: Mapping[str, str]) -> None:
        """Take the answers as pairs of tool and answer; ``aliases`` are the names that stand for odd ones of the run."""
        self.run, self._answers, self._aliases = run, shown, aliases

    @cached_property
    def shown(self) -> Shown:
        """Every number and word in the tools' answers."""
        found: dict[str, list[float | str]] = {}
        for tool, answer in self._answers:
            for path, x in _values(answer, tool):
                found.setdefault(path, []).append(x)
        return found

    def curves(self, name: str) -> list[Curve]:
        """The curves of that name, ours, the run's own, or the alias of one that reads like a sentence."""
        name = self._aliases.get(name, name)
        return [c for c in self.run.curves.values() if name in (c.name, c.raw)]

    def check(self, claim: Claim) -> Checked:
        """What became of a claim."""
        found = [self._on_curve(claim, c) for c in self.curves(claim.metric)]
        if not found and claim.metric in self.shown:
            found = [_on_path(claim, self.shown[claim.metric])]
        if not found:
            return Checked(claim, why=f"there is no metric and no value in an answer of this name{self._nearest(claim.metric)}")
        return next((c for c in found if not c.why), found[0])

    def _on_curve(self, claim: Claim, curve: Curve) -> Checked:
        """A claim about a curve, which goes by its alias where its name reads like a sentence."""
        name = next((alias for alias, odd in self._aliases.items() if odd == curve.name), curve.name)
        try:
            says, first, last = CHECKS[claim.says](claim, Points(self.run, curve, name, claim.unit))
        except WrongClaim as wrong:
            return Checked(claim, why=str(wrong))
        return Checked(claim, says, metric=curve.name, steps=(first, last))

    def _nearest(self, name: str) -> str:
        tool = name.partition(".")[0]
        known = [n for c in self.run.curves.values() for n in (c.name, c.raw)] + [
            path for path in self.shown if path.startswith(f"{tool}.")
        ]
        near = difflib.get_close_matches(name, dict.fromkeys(known[:COMPARED]), 3, 0.5)
        return f"; did you mean {' or '.join(near)}?" if near else ""


def _values(answer: Any, path: str) -> Iterator[tuple[str, float | str]]:
    """Every number and single word of an answer with its path; what the run wrote is left out."""
    if isinstance(answer, Mapping):
        if "untrusted" not in answer:
            for key, part in answer.items():
                yield from _values(part, path if path == key else f"{path}.{key}")
    elif isinstance(answer, list):
        for i, part in enumerate(answer):
            yield from _values(part, f"{path}.{_label(part, i)}")
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        yield path, float(answer)
    elif isinstance(answer, str) and len(answer) <= 40 and answer.replace("_", "").isalnum():
        yield path, answer


def _label(part: Any, i: int) -> str:
    """What an item of a list is called: its name, or its place."""
    named = (part.get(key) for key in ("name", "pattern", "metric", "path", "phase", "step")) if isinstance(part, Mapping) else ()
    return str(next((x for x in named if isinstance(x, str | int | float)), i))


def _on_path(claim: Claim, shown: Sequence[float | str]) -> Checked:
    """A claim about a single value that a tool showed."""
    name = ", ".join(plain(piece) for piece in claim.metric.split(".")[1:] if piece not in HOLDERS)
    if claim.says != "is" or claim.value is None or claim.step is not None:
        return Checked(claim, why="a value of an answer has no steps: give it with `is` and `value` alone")
    if isinstance(claim.value, str):
        if claim.value.casefold() not in {str(x).casefold() for x in shown}:
            return Checked(claim, why=f"it was shown as {shown[0]}")
        return Checked(claim, f"{name} is {plain(claim.value)}")
    in_percent = claim.unit in ("percent", "%")
    said = number(claim.value, percent=in_percent)
    if not any(isinstance(x, float) and said.fits(x) for x in shown):
        return Checked(claim, why=f"it was shown as {shown[0]}")
    whole = said.value.is_integer() and abs(said.value) < FARTHEST
    return Checked(
        claim, f"{name} is {percent(said.value) if in_percent else f'{said.value:.0f}' if whole else value(said.value, digits=3)}"
    )


Told = tuple[str, float, float]
"""A claim in our words, and from which step to which it reaches."""


def _is(claim: Claim, points: Points) -> Told:
    found = points.at(claim.step, points.number(claim.value, "value"))
    about = "" if found.logged else "about "
    return f"{points.name} is {about}{points.spelled(found.value)} at step {found.step:.0f}", found.step, found.step


def _moved(claim: Claim, points: Points) -> Told:
    """Went, rose, fell or is flat: the values that are given were logged, and a direction was measured."""
    first, last = points.stretch(claim.from_step, claim.step)
    given = points.said(claim.from_value)
    if claim.says == "went" and (given is None or claim.value is None):
        raise WrongClaim("`went` needs from_value and value")
    a = points.at(claim.from_step, given, 0) if given is not None else None
    b = points.at(claim.step, points.said(claim.value)) if claim.value is not None else None
    if claim.says != "went":
        _measured(claim.says, points, first, last)
        if a is not None and b is not None and claim.says != "flat" and (b.value > a.value) != (claim.says == "rose"):
            raise WrongClaim(f"from {a.value:.4g} to {b.value:.4g} is the other way")
    if a is None or b is None or claim.says == "flat":
        at = f" at about {points.spelled(b.value)}" if b is not None and claim.says == "flat" else ""
        how = "is flat" if claim.says == "flat" else claim.says
        return f"{points.name} {how} from step {first:.0f} to {last:.0f}{at}", first, last
    before, after = pair(a.value, b.value, points.unit)
    return f"{points.name} {claim.says} from {before} at step {a.step:.0f} to {after} at step {b.step:.0f}", a.step, b.step


def _measured(says: Says, points: Points, first: float, last: float) -> None:
    """Raises WrongClaim unless the claimed direction is the measured one."""
    wanted = {"rose": "rising", "fell": "falling", "flat": "flat"}[says]
    way = points.way(first, last)
    if way == "undecidable":
        raise WrongClaim(
            f"no direction of {points.name} can be told from step {first:.0f} to {last:.0f}; `went` gives two values without one"
        )
    if way != wanted:
        raise WrongClaim(f"{points.name} is measured as {way} from step {first:.0f} to {last:.0f}")


def _extreme(claim: Claim, points: Points) -> Told:
    if claim.value is None and claim.step is None:
        raise WrongClaim(f"`{claim.says}` needs a value or a step")
    i = int(points.value.argmax() if claim.says == "highest" else points.value.argmin())
    top, said = float(points.value[i]), points.said(claim.value)
    if said is not None and not said.fits(top):
        raise WrongClaim(f"{points.name} was {claim.says} at {top:.4g} (step {points.step[i]:.0f})")
    at = points.at(claim.step if claim.step is not None else float(points.step[i]), said or number(float(f"{top:.4g}")))
    return f"{points.name} was {claim.says} at step {at.step:.0f}, at {points.spelled(top)}", at.step, at.step


def _bounded(claim: Claim, points: Points) -> Told:
    """Above or below a value: at a step, or all along from one step to another."""
    said = points.number(claim.value, "value")
    if claim.from_step is None and claim.step is not None:
        at = points.at(claim.step, None)
        first = last = at.step
        logged = points.between(first, last)
    else:
        first, last = points.stretch(claim.from_step, claim.step)
        logged = points.between(first, last)
    if not logged.size:
        raise WrongClaim(f"{points.name} was not logged from step {first:.0f} to {last:.0f}")
    worst = float(logged.min() if claim.says == "above" else logged.max())
    if worst <= said.value if claim.says == "above" else worst >= said.value:
        raise WrongClaim(f"{points.name} came to {worst:.4g} there")
    when = f"at step {last:.0f}" if first == last else f"from step {first:.0f} to {last:.0f}"
    return f"{points.name} is {claim.says} {points.spelled(said.value)} {when}", first, last


CHECKS: Mapping[Says, Callable[[Claim, Points], Told]] = {
    "is": _is,
    "went": _moved,
    "rose": _moved,
    "fell": _moved,
    "flat": _moved,
    "highest": _extreme,
    "lowest": _extreme,
    "above": _bounded,
    "below": _bounded,
}
