"""The document about several runs: what differs first, then runs, the seeds of each variant together, and settings."""

from collections.abc import Mapping, Sequence

from rl_advisor.answers.compare import spelled, spelled_levels
from rl_advisor.answers.document.blocks import Section, Table, Words
from rl_advisor.output import Answer
from rl_advisor.output.wording import plain, value

RUNS = ("run", "variant", "verdict", "first_broken_link", "start", "best", "best_step", "last", "final")


def sections(answer: Answer, ordered: Sequence[Answer], keys: Mapping[str, str]) -> list[Section]:
    """The tables of an answer of ``compare``, its runs in this order; ``keys`` are the kinds by which a picture colours the variants."""
    runs = [[_cell(row, field) for field in RUNS] for row in ordered]
    rows = [[v["variant"], str(len(v["runs"])), _estimate(v["final"]), _estimate(v["best"])] for v in answer["variants"] if "final" in v]
    pairs = [
        [f"{p['b']} over {p['a']}", _estimate(p["b_minus_a"]), _estimate(p["probability_of_improvement"], "share"), value(p["p"])]
        for p in answer["between"]
        if p["b_minus_a"]["low"] != p["b_minus_a"]["high"]
    ]
    settings = [[key, *map(spelled, values)] for key, values in answer["settings_that_differ"].items()]
    tables = (
        ("runs", "Runs", Table("Runs", [f.replace("_", " ") for f in RUNS], runs, [keys.get(r["run"], "") for r in ordered])),
        ("variants", "Seeds of each variant together", Table("Interquartile means", ("variant", "seeds", "final level", "best"), rows)),
        ("pairs", "Variants against the first", Table("Pairs", ("pair", "difference at the end", "chance that it beats it", "p"), pairs)),
        ("settings", "Settings that differ", Table("Settings", ("setting", *(r["run"] for r in answer["runs"])), settings)),
    )
    note = Words("Start and last as logged; best and final: levels. Intervals hold 95 %.", "note")
    return [Section(key, title, [table, *([note] if key == "runs" else [])]) for key, title, table in tables if table.rows]


def _cell(row: Answer, field: str) -> str:
    levels = spelled_levels(row)
    x = levels.get(field, row.get(field))
    return "-" if x is None else f"{x:.0f}" if isinstance(x, float) else plain(x) if field in ("verdict", "first_broken_link") else str(x)


def _estimate(e: Answer, unit: str = "") -> str:
    return f"{value(e['value'], unit)} ({value(e['low'], unit)} to {value(e['high'], unit)})"
