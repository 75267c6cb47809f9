"""Every row of the seed documents, what holds it, and the page that says so: ``python -m evals.seeds.rows`` writes ``docs/dev/seeds.md``."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dev" / "seeds.md"
SKILL = ROOT / "skills" / "rl-practitioner"
HEAD = """# The seeds, row by row

Written by `python -m evals.seeds.rows`; `tests/evals/test_seed_rows.py` keeps it true. *works*: the tool does it on a run, and the situation
(`python -m evals.seeds NAME`) or the test named shows it. *partly*: in some of its cases. *advice*: a person does it; the skill says it where
it is needed, and an eval case or the page named holds it. The words are ours; the documents are the seeds of the project.
"""


@dataclass(frozen=True)
class Row:
    """One row: the seed, the place in it, what it asks for, how it stands, and what holds it."""

    seed: str
    place: str
    words: str
    status: str
    holder: str

    @property
    def shown(self) -> str:
        """What holds it, in words."""
        kind, _, name = self.holder.partition(":")
        return {"s": f"situation `{name}`", "t": f"`tests/{name}`", "a": f"advice case `{name}`", "d": f"`{name}`"}.get(
            kind, f"`{name.partition('#')[0]}`: {name.partition('#')[2]}"
        )


def rows() -> list[Row]:
    """Every row."""
    return [Row(*line.split("|")) for line in (Path(__file__).parent / "rows.psv").read_text(encoding="utf-8").splitlines()]


def held(row: Row) -> bool:
    """Whether what should hold a row is there: the situation, the test, the advice case, the words on the skill's page, the file."""
    from evals.seeds.__main__ import SITUATIONS

    kind, _, name = row.holder.partition(":")
    if kind == "s":
        return name in SITUATIONS
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
    told = rows()
    counts = {status: sum(r.status == status for r in told) for status in ("works", "partly", "advice")}
    lines = [HEAD, ", ".join(f"{n} {status}" for status, n in counts.items()) + f", of {len(told)}.", ""]
    lines += ["| seed | place | asks for | stands | held by |", "|---|---|---|---|---|"]
    lines += [f"| {r.seed} | {r.place} | {r.words} | {r.status} | {r.shown} |" for r in told]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(rows())} rows")
