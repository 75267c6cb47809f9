"""Every row of the seed documents, what holds it, and the page that says so: ``python -m evals.seeds.rows`` writes ``docs/dev/seeds.md``."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.seeds.expected import ENOUGH

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dev" / "seeds.md"
SKILL = ROOT / "skills" / "rl-practitioner"
SHARES = ROOT / "evals" / "seeds" / "shares.json"
HEAD = """# The seeds, row by row

Made by `python -m evals.seeds --draws {draws} --again {again} --json evals/seeds/shares.json` and `python -m evals.seeds.rows`; nobody writes a status by hand.
A *situation* is a run made anew with chance in every level, length and noise, in a framework's own files and names; an answer is right when its
*values* are what the seed says: verdict, link, patterns that are present, call, what the action names, checkpoint. Words elsewhere do not count.
Each is drawn {draws} times in each framework; where one of these is answered wrong, {again} times, which tells nine in ten from fewer.
Situations `d_...` are asked of another verb in two forms, each beside a near-miss that differs in that one thing and must not be answered so; those
of somebody who has nothing but words are asked of `explain` as one sentence and as a thread, and its steps must name the command and the address.

- *works*: at least two situations or frameworks are answered so in nine of ten drawings.
- *once*: one framework's words alone were tried, in nine of ten drawings right.
- *partly*: fewer are right, or other situations' answers pass as well (more than {loose:.0%} of them), so that being right says little.
- *tested*: no situation can show it (a reader, a file, a command); the test named does, on one case or a few.
- *advice*: a person does it; the skill says it where it is needed.

What is not proven: that nothing says the opposite in a situation nobody made, and that real runs do as these. The share is the worst framework's.
The words are ours; the documents are the seeds of the project.
"""
STATUSES = ("works", "once", "partly", "tested", "advice")
LOOSE = 0.5
"""Share of the other situations' answers that may pass before what is asked says too little."""


@dataclass(frozen=True)
class Row:
    """One row: the seed, the place in it, what it asks for, and what holds it."""

    seed: str
    place: str
    words: str
    holder: str

    def stands(self, shares: Mapping[str, Any]) -> tuple[str, str]:
        """How it stands, and the share of its drawings that is right, by what was measured of its situations."""
        kind, _, name = self.holder.partition(":")
        if kind != "s":
            return ("advice" if kind in "ak" else "tested"), ""
        own = shares[name]
        share = f"{min(own['right'].values()):.0%}"
        if min(own["right"].values()) < ENOUGH or own["others"] > LOOSE or not own["by_value"]:
            return "partly", share
        seen = sum(right >= ENOUGH for other in same_statement(name) for right in shares[other]["right"].values())
        return ("works" if seen > 1 else "once"), share

    @property
    def shown(self) -> str:
        """What holds it, in words."""
        kind, _, name = self.holder.partition(":")
        return {"s": f"situation `{name}`", "t": f"`tests/{name}`", "a": f"advice case `{name}`", "d": f"`{name}`"}.get(
            kind, f"`{name.partition('#')[0]}`: {name.partition('#')[2]}"
        )


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
    stand = [(row, *row.stands(measured["situations"])) for row in rows()]
    counts = Counter(status for _, status, _ in stand)
    lines = [HEAD.format(draws=measured["draws"], again=measured["again"], loose=LOOSE)]
    lines += [", ".join(f"{counts[status]} {status}" for status in STATUSES) + f", of {len(stand)}.", ""]
    lines += ["| seed | place | asks for | stands | right | held by |", "|---|---|---|---|---|---|"]
    lines += [f"| {r.seed} | {r.place} | {r.words} | {status} | {share} | {r.shown} |" for r, status, share in stand]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(rows())} rows")
