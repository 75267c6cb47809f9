"""The document about several runs: the runs and their settings; what differs stands above them in sentences."""

from collections.abc import Mapping, Sequence

from rl_advisor.answers.compare import spelled_levels
from rl_advisor.answers.document.blocks import Section, Table, Words
from rl_advisor.output import Answer
from rl_advisor.output.wording import plain, setting

RUNS = ("run", "variant", "verdict", "first_broken_link", "start", "best", "best_step", "last", "final")


def sections(answer: Answer, ordered: Sequence[Answer], keys: Mapping[str, str]) -> list[Section]:
    """The tables of an answer of ``compare``, its runs in this order; ``keys`` are the kinds by which a picture colours the variants."""
    runs = [[_cell(row, field) for field in RUNS] for row in ordered]
    settings = [[key, *map(setting, values)] for key, values in answer["settings_that_differ"].items()]
    table = Table("Runs", [f.replace("_", " ") for f in RUNS], runs, [keys.get(r["run"], "") for r in ordered])
    found = [Section("runs", "Runs", [table, Words("Start and last as logged; best and final: levels.", "note")])]
    table = Table("Settings", ("setting", *(r["run"] for r in answer["runs"])), settings)
    return [*found, Section("settings", "Settings that differ", [table])] if settings else found


def _cell(row: Answer, field: str) -> str:
    levels = spelled_levels(row)
    x = levels.get(field, row.get(field))
    return "-" if x is None else f"{x:.0f}" if isinstance(x, float) else plain(x) if field in ("verdict", "first_broken_link") else str(x)
