"""The table in the terminal: how many of each urgency, the rows that need a person first, and what stopping would save."""

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import shorten

from rl_advisor.output.layout import filled, number, said, table
from rl_advisor.output.wording import chance, plain, seconds_of
from rl_advisor.tools.triage.common import FEWEST, common, notes, sentences
from rl_advisor.tools.triage.row import Row
from rl_advisor.tools.triage.row import shown as safe
from rl_advisor.tools.triage.urgency import CLASSES, SAID

SHOWN = 40
HEAD = ("run", "verdict", "call", "what broke first", "keep", "step", "age", "left")


def lines(rows: Sequence[Row], shown: int = SHOWN) -> Iterator[str]:
    """The table of rows that are in order already, cut to those that are most urgent."""
    rows = safe(rows)
    counts = Counter(row["urgency"] for row in rows)
    yield f"{len(rows):,} runs: " + ", ".join(f"{counts[name]:,} {SAID[name]}" for name in CLASSES if counts[name])
    yield from saved(rows)
    yield ""
    first = [row for row in rows if row["urgency"] != "unread"][:shown]
    yield from table([HEAD], [cells(row) for row in first]) if first else ()
    if unread := [row for row in rows if row["urgency"] == "unread"]:
        yield ""
        yield from (f"{said(row['run'])}: {said(row['error'])}"[:200] for row in unread[: min(shown, 10)])
        if len(unread) > 10:
            yield f"... and {len(unread) - 10:,} more that could not be judged"
    judged = len(rows) - len(unread)
    if judged > len(first):
        yield f"... and {judged - len(first):,} more: --all, --json or --page FILE.html shows them"
    told = sentences(common(rows) if judged >= FEWEST else {"notes": notes(rows)})[:6]
    yield from ["", *(line for sentence in told for line in filled(f"- {sentence}"))] if told else ()


def saved(rows: Sequence[Row]) -> Iterator[str]:
    """What stopping the dead and hopeless would save, where it is logged."""
    gpu = sum(row.get("saves_gpu_hours") or 0.0 for row in rows)
    hours = sum(row.get("saves_hours") or 0.0 for row in rows if not row.get("saves_gpu_hours"))
    after = sum(row.get("cost", {}).get("gpu_hours_after_break") or 0.0 for row in rows)
    told = [f"{number(round(gpu, 1))} GPU hours"] if gpu >= 0.1 else []
    told += [f"{number(round(hours, 1))} hours of runs whose GPUs are not logged"] if hours >= 0.1 else []
    if told:
        yield f"Stopping what is advised to stop would save {' and '.join(told)}."
    if after >= 0.1:
        yield f"{number(round(after, 1))} GPU hours went by after runs had broken."


def cells(row: Row, name: int = 48, why: int = 46) -> tuple[str, ...]:
    """What the table says of a run that could be judged, or why it could not; name and reason as long as there is room."""
    if row["verdict"] is None:
        return said(row["run"]), "not judged", "-", said(row["error"] or ""), *("-",) * 4
    best, cost = row["best_checkpoint"], row.get("cost", {})
    sure = "" if row["p"] is None else f" {chance(row['p'], row.get('confidence') or 'high')}"
    left = cost.get("gpu_hours_left")
    planned = f"/{row['planned_steps']}" if row["planned_steps"] else ""
    return (
        said(row["run"])[-name:],
        f"{plain(row['verdict'])}{sure}",
        str(row["call"]),
        shorten(said(row.get("why") or "-"), why, placeholder="…") if row["urgency"] != "sound" else "-",
        "-" if best is None else str(best),
        f"{row['step']}{planned}",
        "-" if row["age_s"] is None else seconds_of(row["age_s"]),
        "-" if left is None else f"{number(round(left, 1))} GPU h",
    )
