"""Errors planted into right sentences about real runs: how many are caught, and how many right sentences are struck.

Run ``python benchmarks/planted.py [FOLDER]...``; without a folder it takes the runs of several frameworks that this repository ships.
Right sentences are those of the built-in summaries and findings, and the same told in other words with fewer digits. Into each, one
error of every kind that it offers a place for is planted: another number, a number of another metric, another sign, another step,
another word of direction (or the ends of a change exchanged).
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rl_advisor.advisors.builtin import assess
from rl_advisor.advisors.grounding import held
from rl_advisor.advisors.grounding.facts import facts
from rl_advisor.answers.run_folders import runs_below
from rl_advisor.assessment import Assessment
from rl_advisor.reading import read_run

REPOSITORY = Path(__file__).parent.parent
SHIPPED = ("examples", "tests/data/corpus/runs", "tests/data/golden", "evals/corpus/classic/runs", "evals/corpus/grpo/runs")
_PAIRS = (
    "rising falling",
    "rose fell",
    "declined improved",
    "flat rising",
    "grew shrank",
    "gained lost",
    "collapsed improved",
    "dropping climbing",
)
OPPOSITE = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])} | {"improved": "declined", "rising": "falling"}
NUMBER = re.compile(r"(?<![\w./-])-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w|\.\d|-\w)")
METRIC = re.compile(r"\b[a-z]+/[\w/]+")
PAIR = re.compile(r"from (-?[\d.]+) to (-?[\d.]*\d)")


def sentences_of(a: Assessment) -> list[str]:
    """Right sentences of a run: of the summary, of the findings, and the same told in other words with fewer digits."""
    told = [f for f in a.findings if f.outcome != "not_logged" and not f.statement.startswith("Too few points")]
    out = [f"{f.pattern.replace('_', ' ')}: {f.statement}" for f in told]
    out += [
        f"The {f.pattern.replace('_', ' ')} began near step {f.onset['step']:.0f}."
        for f in a.findings
        if f.outcome == "present" and f.onset
    ]
    for f in a.findings:
        for m in re.finditer(r"([a-z]+/[\w/]+) (?:went|rose|fell) from (-?[\d.]+) to (-?[\d.]*\d)(?![\d.e])", f.statement):
            first, last = float(m[2]), float(m[3])
            if abs(first - last) > 0.1:
                out.append(f"We saw {m[1]} {'climbing' if last > first else 'dropping'} from {first:.2f} to {last:.2f} over the run.")
    return out


Place = tuple[int, int, str]
"""Begin and end of a right word or number, and the wrong one for it."""


def planted(said: str, kind: str, a: Assessment, rng: random.Random) -> str | None:
    """The sentence with one error of a kind; None where it offers no place for one."""
    places = KINDS[kind](said, a, rng)
    if not places:
        return None
    start, end, text = rng.choice(places)
    return said[:start] + text + said[end:]


def numbers(said: str, _: Assessment, rng: random.Random) -> list[Place]:
    """Numbers that are no steps, made half as large to 1.6 times as large."""
    places = []
    for m in NUMBER.finditer(said):
        share = said[m.end() : m.end() + 2] == " %"
        value = float(m[0]) * rng.choice([0.5, 0.7, 1.3, 1.6]) + (0 if float(m[0]) else 13.7 if share else 0.137)
        beside = (abs(float(other[0])) for other in NUMBER.finditer(said))
        true = any(abs(abs(value) - x) <= 0.07 * x for x in beside)  # what the sentence says elsewhere is no error
        if not true and not re.search(r"steps? $| to $| and $", said[: m.start()]):
            places.append((m.start(), m.end(), f"{value:#.3g}" if "." in m[0] or not float(m[0]) else f"{value + 1:.0f}"))
    return places


def metrics(said: str, a: Assessment, rng: random.Random) -> list[Place]:
    """Metrics with a number right behind them, exchanged for another metric of the run."""
    others = sorted({str(e["metric"]) for f in a.findings for e in f.evidence if "/" in str(e["metric"])} - set(METRIC.findall(said)))
    found = [(m, NUMBER.search(said[m.end() : m.end() + 30])) for m in METRIC.finditer(said)]
    return [(m.start(), m.end(), rng.choice(others)) for m, number in found if others and number and number[0] not in ("0", "1")]


def signs(said: str, _: Assessment, __: random.Random) -> list[Place]:
    """Numbers with their sign turned, where no word says the sign."""
    able = [m for m in NUMBER.finditer(said) if float(m[0])]
    free = [m for m in able if not re.search(r"steps? $| to $| and $| of $|by $|from $|between $", said[: m.start()])]
    return [(m.start(), m.end(), m[0][1:] if m[0][0] == "-" else f"-{m[0]}") for m in free]


def steps(said: str, a: Assessment, rng: random.Random) -> list[Place]:
    """Steps, each exchanged for another of the run."""
    places = []
    for m in re.finditer(r"(?<=step )\d+(?![\w.])", said):
        step = rng.randrange(a.planned_steps or a.step)
        places.append((m.start(), m.end(), str(step if abs(step - int(m[0])) > 2 else step + 17)))
    return places


def directions(said: str, _: Assessment, __: random.Random) -> list[Place]:
    """Words of direction, exchanged for their opposites; ends of a change, exchanged for each other."""
    start = said.find(": ") if said[0].islower() else 0
    found = [(m, opposite) for word, opposite in OPPOSITE.items() for m in re.finditer(rf"\b{word}\b(?! or not)", said)]
    claimed = [(m, opposite) for m, opposite in found if m.start() >= start and "not " not in said[m.start() - 5 : m.start()]]
    turned = [(m.start(), m.end(), f"from {m[2]} to {m[1]}") for m in PAIR.finditer(said) if abs(float(m[1]) - float(m[2])) > 0.1]
    return [(m.start(), m.end(), opposite) for m, opposite in claimed] + turned


KINDS = {"number": numbers, "metric": metrics, "sign": signs, "step": steps, "direction": directions}


@dataclass
class Tally:
    """Right sentences and those of them that are struck; planted errors and caught ones, by kind."""

    right: int = 0
    struck: list[str] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)

    def add(self, run: Path, rng: random.Random) -> None:
        """Try the sentences of one run."""
        a = assess(read_run(run))
        known = facts(a)
        for said in sentences_of(a):
            self.right += 1
            wrongly = [c.text for c in held(said, known) if not c.supported]
            if wrongly:
                self.struck.append(f"{run.name}: {wrongly} in: {said}")
                continue
            for kind in KINDS:
                wrong = planted(said, kind, a, rng)
                if wrong is None or wrong == said:
                    continue
                self.tried[kind] += 1
                if any(not c.supported for c in held(wrong, known)):
                    self.caught[kind] += 1
                else:
                    self.missed.append(f"{run.name}, {kind}: {wrong}")

    @property
    def good(self) -> bool:
        """Whether at least 98 of 100 errors are caught and at most 2 of 100 right sentences struck."""
        return self.caught.total() >= 0.98 * self.tried.total() and len(self.struck) <= 0.02 * self.right


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
    for kind in KINDS:
        print(f"{kind}: {t.caught[kind]} of {t.tried[kind]} caught")
    total, caught = t.tried.total(), t.caught.total()
    print(f"{len(runs)} runs: {caught} of {total} planted errors caught ({100 * caught / total:.1f} %), ", end="")
    print(f"{len(t.struck)} of {t.right} right sentences struck ({100 * len(t.struck) / t.right:.1f} %)")
    sys.exit(not t.good)


if __name__ == "__main__":
    main()
