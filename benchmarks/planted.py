"""Errors planted into true claims about real runs: how many are caught, and how many true claims are struck.

Run ``python benchmarks/planted.py [FOLDER]...``; without a folder it takes every run that this repository ships. True claims are what
the tools of a model advisor print of a run, quoted with the digits in which answers and statements are spelled: values of curves, ends
of a change, directions, extremes, measures of findings, settings, saved checkpoints. Into each, one error of every kind that it offers
a place for is planted: another value, step, direction, metric or unit, a checkpoint that was never saved, a step after the end of what
was seen. A planted error that happens to be true (another step with the same logged value) is no error and is counted apart.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from rl_advisor.answers.run_folders import runs_below
from rl_advisor.answers.story.quantities import unit_of
from rl_advisor.finding import Assessment
from rl_advisor.output.wording import WHOLE, value
from rl_advisor.reading import read_run
from rl_advisor.run import Run
from rl_advisor.tools.advisors.builtin import assess
from rl_advisor.tools.advisors.model.signing import ModelAnswer, held
from rl_advisor.tools.advisors.model.toolbox import Toolbox

REPOSITORY = Path(__file__).parent.parent
SHIPPED = (
    "examples",
    "tests/data/corpus/runs",
    "tests/data/golden",
    *(f"evals/corpus/{name}/runs" for name in ("classic", "grpo", "second", "unseen")),
)
OPPOSITE = {"rose": "fell", "fell": "rose", "flat": "rose"}
DIRECTIONS = {"rising": "rose", "falling": "fell", "flat": "flat"}
BATCH = 30
Claim = dict[str, Any]


def spelled(x: float, unit: str | None, rng: random.Random) -> Claim:
    """A value in one of the spellings that tools and statements have: two digits, three, percent, or as it was printed."""
    text = value(x, unit or "", rng.choice([2, 2, 3])) if rng.random() < 0.8 else f"{x:.5g}"
    if text.endswith("%"):
        return {} if not text[0].isdigit() and text[0] != "-" else {"value": float(text[:-2]), "unit": "percent"}
    return {"value": float(text)}


def true_claims(shown: list[tuple[str, Any]], rng: random.Random) -> Iterator[Claim]:
    """What can be claimed by quoting the tools."""
    for tool, answer in shown:
        if tool == "summarize_curves":
            for metric in answer["metrics"]:
                yield from _of_curve(metric, rng)
        if tool == "findings":
            for f in answer["findings"]:
                for key, x in f["measures"].items():
                    if f["outcome"] == "present" and x is not None and (said := spelled(x, None, rng)):
                        yield {"metric": f"findings.{f['pattern']}.measures.{key}", **said}
        if tool == "load_run":
            for key, x in answer["config"].items():
                if isinstance(x, int | float) and not isinstance(x, bool):
                    yield {"metric": f"load_run.config.{key}", "value": x}


def _of_curve(shown: dict[str, Any], rng: random.Random) -> Iterator[Claim]:
    """What can be claimed by quoting one curve's summary."""
    if not shown["steps"]:
        return
    name, unit = rng.choice([shown["name"], shown["logged_as"]]), shown["unit"]
    first, last = shown["steps"]
    points = [[first, shown["first"]], [last, shown["last"]], *shown["newest"][-2:-1]]
    points += rng.sample(shown["sketch"], min(3, len(shown["sketch"]))) if "sketch" in shown else []
    for step, x in points:
        if said := spelled(x, unit, rng):
            yield {"metric": name, "step": step, **said}
    if said := spelled(shown["highest"]["value"], unit, rng):
        yield {"metric": name, "says": "highest", "step": shown["highest"]["step"], **said}
    if first < last and "value" in (said := spelled(shown["last"], "", rng)):
        yield {"metric": name, "from_step": first, "from_value": float(value(shown["first"])), "step": last, **said}
    for key, begin in (("overall", first), ("recent", shown.get("recent", {}).get("from_step"))):
        if (way := DIRECTIONS.get(shown.get(key, {}).get("direction"))) and begin < last:
            yield {"metric": name, "says": way, "from_step": begin, "step": last}


Plant = Callable[[Claim, Run, random.Random], Claim | None]
"""A claim with one error of a kind; None where it offers no place for one."""


def _value(claim: Claim, _: Run, rng: random.Random) -> Claim | None:
    if not isinstance(claim.get("value"), int | float):
        return None
    x = claim["value"] * rng.choice([0.5, 0.7, 1.3, 1.6]) if claim["value"] else rng.choice([0.137, 13.7])
    return {**claim, "value": float(f"{x:.3g}")}


def _step(claim: Claim, run: Run, rng: random.Random) -> Claim | None:
    curve = _curve(run, claim)
    if curve is None or claim.get("says") in OPPOSITE:
        return None
    other = [s for s in curve.finite()[0].tolist() if abs(s - claim["step"]) > 0.5 and s > claim.get("from_step", -1)]
    return {**claim, "step": round(rng.choice(other))} if other else None


def _direction(claim: Claim, _: Run, rng: random.Random) -> Claim | None:
    way = claim.get("says")
    if way not in OPPOSITE:
        return None
    return {**claim, "says": rng.choice([OPPOSITE[way], "flat" if way != "flat" else "fell"])}


def _metric(claim: Claim, run: Run, rng: random.Random) -> Claim | None:
    curve = _curve(run, claim)
    if curve is None or "value" not in claim:
        return None
    others = sorted(c.name for c in run.curves.values() if c.name != curve.name and c.mapped and c.finite()[0].size)
    return {**claim, "metric": rng.choice(others)} if others else None


def _unit(claim: Claim, _: Run, __: random.Random) -> Claim | None:
    """A share said in percent without the word, the word without the percent, or a thousandth of another unit."""
    if not claim.get("value") or "step" not in claim:
        return None
    if claim.get("unit") == "percent":
        return {k: v for k, v in claim.items() if k != "unit"}
    return {**claim, "unit": "percent"} if abs(claim["value"]) <= 1 else {**claim, "value": claim["value"] * 1000}


def _later(claim: Claim, run: Run, rng: random.Random) -> Claim | None:
    """A point after the last step that was seen."""
    return {**claim, "step": round(run.last_step) + rng.randint(1, 500)} if "step" in claim else None


KINDS: dict[str, Plant] = {"value": _value, "step": _step, "direction": _direction, "metric": _metric, "unit": _unit, "later": _later}


def _curve(run: Run, claim: Claim) -> Any:
    return next((c for c in run.curves.values() if claim["metric"] in (c.name, c.raw)), None)


def is_true(claim: Claim, run: Run) -> bool:
    """Whether a claim with an error planted is true all the same: its value stands in the log at its step, rounded as it is."""
    if claim.get("says") in OPPOSITE or not isinstance(claim.get("value"), int | float):
        return False
    x = claim["value"] / 100 if claim.get("unit") == "percent" else claim["value"]
    for curve in (c for c in run.curves.values() if claim["metric"] in (c.name, c.raw)):
        step, logged = curve.finite()
        extreme, whole = claim.get("says") == "highest", unit_of(curve) in WHOLE
        begins = "from_value" not in claim or claim["from_value"] in _roundings(logged[abs(step - claim["from_step"]) <= 0.5], whole=whole)
        there = logged[abs(step - claim["step"]) <= 0.5]
        if begins and x in _roundings(there[there == logged.max()] if extreme else there, whole=whole):
            return True
    return False


def _roundings(logged: Any, *, whole: bool = False) -> set[float]:
    """Numbers to two, three and five digits, as they are spelled; shares in whole percent, too, and counts as whole numbers."""
    said = {float(f"{x:.{digits}g}") for x in logged.tolist() for digits in (2, 3, 4, 5)}
    return said | {round(x, 2) for x in logged.tolist()} | {float(round(x)) for x in logged.tolist() if whole or abs(x) >= 100}


def failed(claims: list[Claim], bench: Toolbox, base: Assessment, shown: list[tuple[str, Any]]) -> list[str]:
    """Why each claim fails, empty for one that stands; asked as a model's answer is, through its JSON."""
    whys: list[str] = []
    for i in range(0, len(claims), BATCH):
        answer = ModelAnswer.model_validate_json(orjson.dumps(_answer(base, claims[i : i + BATCH])))
        struck = {each["claim"]: each["why"] for each in held(answer, base, bench, shown)[1]}
        whys += [struck.get(number, "") for number in range(1, len(answer.claims) + 1)]
    return whys


def _answer(base: Assessment, claims: list[Claim], checkpoint: int | None = None) -> dict[str, Any]:
    nothing = {"do": "Wait.", "expect_if_right": "It holds.", "expect_if_wrong": "It falls."}
    texts = {"why": "", "best_checkpoint_why": "", "summary": "", "ruled_out": [], "could_not_see": []}
    judged = {"verdict": base.verdict, "call": base.call, "p_continue_pays": 0.5, "confidence": "low", "first_broken_link": "none"}
    return {**judged, **texts, "next_experiment": nothing, "claims": claims, "best_checkpoint_step": checkpoint}


@dataclass
class Tally:
    """True claims and those of them that are struck; planted errors and caught ones, by kind."""

    right: int = 0
    struck: list[str] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    true_after_all: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, place: Path, rng: random.Random) -> None:
        """Try the claims of one run."""
        run = read_run(place)
        base = assess(run)
        bench = Toolbox(run, base.findings)
        asked = [("load_run", {}), ("summarize_curves", {}), ("findings", {"outcome": "present"})]
        shown = [(tool, bench.call(tool, arguments)[0]) for tool, arguments in asked]
        claims = list(true_claims(shown, rng))
        self.right += len(claims)
        whys = failed(claims, bench, base, shown)
        self.struck += [f"{place.name}: {c}: {why}" for c, why in zip(claims, whys, strict=True) if why]
        standing = [c for c, why in zip(claims, whys, strict=True) if not why]
        for kind, plant in KINDS.items():
            wrong = [w for c in standing if (w := plant(c, run, rng)) is not None]
            errors = [w for w in wrong if kind == "later" or not is_true(w, run)]
            self.true_after_all += len(wrong) - len(errors)
            whys = failed(errors, bench, base, shown)
            self.tried[kind] += len(errors)
            self.caught[kind] += sum(map(bool, whys))
            self.missed += [f"{place.name}, {kind}: {w}" for w, why in zip(errors, whys, strict=True) if not why]
        self._checkpoints(run, bench, base, rng)

    def _checkpoints(self, run: Run, bench: Toolbox, base: Assessment, rng: random.Random) -> None:
        """Name a saved checkpoint, and one that was never saved."""
        saved = {c.step for c in run.checkpoints}
        free = sorted(set(range(round(run.first_step), min(round(run.last_step), 10**5))) - saved - {base.best_checkpoint.step or 0})
        if not saved or not free:
            return
        right, wrong = (ModelAnswer.model_validate(_answer(base, [], rng.choice(steps))) for steps in (sorted(saved), free))
        self.right, self.tried["checkpoint"] = self.right + 1, self.tried["checkpoint"] + 1
        self.struck += [str(held(right, base, bench, ())[1])] if held(right, base, bench, ())[1] else []
        self.caught["checkpoint"] += bool(held(wrong, base, bench, ())[1])

    @property
    def good(self) -> bool:
        """Whether at least 98 of 100 errors are caught and at most 1 of 100 true claims struck."""
        return self.caught.total() >= 0.98 * self.tried.total() and len(self.struck) <= 0.01 * self.right


def tally(runs: Iterable[Path], seed: int = 7) -> Tally:
    """The tally of some runs."""
    rng, found = random.Random(seed), Tally()  # noqa: S311 - a fixed seed, nothing secret
    for run in runs:
        found.add(run, rng)
    return found


def main() -> None:
    """Print the tally; ends with 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[REPOSITORY / name for name in SHIPPED])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--each", action="store_true", help="show what was missed and struck")
    asked = parser.parse_args()
    runs = sorted({run for folder in asked.folders for run in runs_below(folder)})
    t = tally(runs, asked.seed)
    if asked.each:
        print("\n".join([*(f"missed: {m}" for m in t.missed), *(f"struck: {s}" for s in t.struck)]))
    for kind in t.tried:
        print(f"{kind}: {t.caught[kind]} of {t.tried[kind]} caught ({100 * t.caught[kind] / t.tried[kind]:.1f} %)")
    total, caught = t.tried.total(), t.caught.total()
    print(f"{len(runs)} runs: {caught} of {total} planted errors caught ({100 * caught / total:.1f} %), ", end="")
    print(f"{len(t.struck)} of {t.right} true claims struck ({100 * len(t.struck) / t.right:.1f} %); ", end="")
    print(f"{t.true_after_all} planted changes were true and are not counted")
    sys.exit(not t.good)


if __name__ == "__main__":
    main()
