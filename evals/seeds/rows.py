"""Every row of the seed documents, what holds it, and the page that says so: ``python -m evals.seeds.rows`` writes ``docs/dev/seeds.md``."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evals.seeds.expected import ENOUGH, SELDOM, Score

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dev" / "seeds.md"
SKILL = ROOT / "skills" / "rl-practitioner"
SHARES = ROOT / "evals" / "seeds" / "shares.json"
HEAD = """# The seeds, row by row

Made by `python -m evals.seeds --draws {draws} --again {again} --json evals/seeds/shares.json` and `python -m evals.seeds.rows`; nobody writes a status by hand.
A *situation* is a run made anew with chance in every level, length and noise, in a framework's own files and names; an answer is right when its
*values* are what the seed says: verdict, link, patterns that are present, call, what the action names, checkpoint. Words elsewhere do not count.
Each is drawn {draws} times in each framework; where one of these is answered wrong, {again} times, and up to 36 where that leaves it in doubt,
which tells nine in ten from fewer.
Situations `d_...` are asked of another verb in two forms, each beside a near-miss that differs in that one thing and must not be answered so; those
of somebody who has nothing but words are asked of `explain` as one sentence and as a thread, and its steps must name the command and the address.

- *works*: every situation that is named for it, in at least two situations or frameworks, is answered so in nine of ten drawings; one that is not takes the row with it.
- *once*: one framework's words alone were tried, in nine of ten drawings right.
- *opposite*: one of them is answered to the contrary in more than {seldom:.0%} of its drawings: on for stop, better for broken, a fault where none is, a near-miss in the situation's place.
- *missing*: one of them is answered so in less than {seldom:.0%} of its drawings.
- *partly*: fewer are right than nine in ten, or other situations' answers pass as well (more than {loose:.0%} of them), so that being right says little.
- *tested*: no situation can show it (a reader, a file, a command); the test named does, on one case or a few.
- *advice*: a person does it; the skill says it where it is needed.

What is not proven: that nothing says the opposite in a situation nobody made, and that real runs do as these. The share is the worst framework's of the
worst situation; where a row does not work, that situation is named.
The words are ours; the documents are the seeds of the project.
"""
STATUSES = ("works", "once", "partly", "missing", "opposite", "tested", "advice")
LOOSE = 0.5
"""Share of the other situations' answers that may pass before what is asked says too little."""


@dataclass(frozen=True)
class Row:
    """One row: the seed, the place in it, what it asks for, and what holds it."""

    seed: str
    place: str
    words: str
    holder: str

    def stands(self, scores: Mapping[str, Score]) -> tuple[str, str, str]:
        """How it stands, the share of drawings right in the worst situation named for it, and that situation, by what was measured."""
        kind, _, name = self.holder.partition(":")
        if kind != "s":
            return ("advice" if kind in "ak" else "tested"), "", ""
        named = {other: scores[other] for other in same_statement(name)}
        status, worst = min(((standing(score), other) for other, score in named.items()), key=lambda found: ORDER.index(found[0]))
        if status == "works" and sum(len(score.right) for score in named.values()) < 2:
            status = "once"
        if status == "works":
            worst = min(named, key=lambda other: named[other].worst)
        return status, f"{named[worst].worst:.0%}", worst

    @property
    def shown(self) -> str:
        """What holds it, in words."""
        kind, _, name = self.holder.partition(":")
        return {"s": f"situation `{name}`", "t": f"`tests/{name}`", "a": f"advice case `{name}`", "d": f"`{name}`"}.get(
            kind, f"`{name.partition('#')[0]}`: {name.partition('#')[2]}"
        )


ORDER = ("opposite", "missing", "partly", "works")
"""The worst first: what one situation of a row is, the row is."""


def standing(score: Score) -> str:
    """How one situation stands."""
    if score.opposite > SELDOM:
        return "opposite"
    if score.worst < SELDOM:
        return "missing"
    return "works" if score.worst >= ENOUGH and score.others <= LOOSE and score.by_value else "partly"


def same_statement(name: str) -> list[str]:
    """A situation and those that stand for one of its statements in other numbers."""
    from evals.seeds.__main__ import EVERY

    return [other for other, s in EVERY.items() if set(s.rows) & set(EVERY[name].rows)]


def rows() -> list[Row]:
    """Every row."""
    return [Row(*line.split("|")) for line in (Path(__file__).parent / "rows.psv").read_text(encoding="utf-8").splitlines()]


def held(row: Row) -> bool:
    """Whether what should hold a row is there: the situation, the test, the advice case, the words on the skill's page, the file."""
    from evals.seeds.__main__ import EVERY

    kind, _, name = row.holder.partition(":")
    if kind == "s":
        return name in EVERY
    if kind == "t":
        file, _, test = name.partition("::")
        return re.search(rf"^def {re.escape(test)}\(", (ROOT / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE) is not None
    if kind == "a":
        cases = json.loads((SKILL / "evals" / "advice.json").read_text(encoding="utf-8"))["cases"]
        return any(case["seed"] == name for case in cases)
    if kind == "k":
        page, _, phrase = name.partition("#")
        return phrase in (SKILL / "references" / page).read_text(encoding="utf-8")
    return (ROOT / name).exists()


def page() -> str:
    """The page."""
    measured = json.loads(SHARES.read_text(encoding="utf-8"))
    scores = {name: Score(**score) for name, score in measured["situations"].items()}
    stand = [(row, *row.stands(scores)) for row in rows()]
    counts = Counter(status for _, status, *_ in stand)
    lines = [HEAD.format(draws=measured["draws"], again=measured["again"], loose=LOOSE, seldom=SELDOM)]
    lines += [", ".join(f"{counts[status]} {status}" for status in STATUSES) + f", of {len(stand)}.", ""]
    lines += ["| seed | place | asks for | stands | right | held by |", "|---|---|---|---|---|---|"]
    for r, status, share, worst in stand:
        held_by = f"{r.shown}, not `{worst}`" if status in ORDER[:-1] else r.shown
        lines.append(f"| {r.seed} | {r.place} | {r.words} | {status} | {share} | {held_by} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(rows())} rows")
