"""The samples worth reading, short: best rewarded, worst rewarded and random of the latest step, each with where it stands."""

from typing import Any

from rl_advisor.reports.html.words import figures, text
from rl_advisor.run import Run
from rl_advisor.samples import spotcheck
from rl_advisor.samples.excerpts import excerpt

COUNT = 2
_KINDS = (("highest", "Best rewarded"), ("lowest", "Worst rewarded"), ("random", "Random, latest step"))
_HEAD, _TAIL = 320, 120


def samples(run: Run) -> str:
    """The triad as three columns; empty when the run holds no responses."""
    if not len(run.rollouts):
        return ""
    columns = "".join(_column(title, rows) for title, rows in triad(run) if rows)
    return f'<p class="note">Model output, shown verbatim.</p><div class="triad">{columns}</div>'


def triad(run: Run) -> list[tuple[str, list[dict[str, Any]]]]:
    """Best rewarded, worst rewarded and random samples under their titles; empty when the run holds no responses."""
    picked = spotcheck.triad(run, count=COUNT) if len(run.rollouts) else {}
    return [(title, picked[kind]) for kind, title in _KINDS if kind in picked]


def _column(title: str, rows: list[dict[str, Any]]) -> str:
    more = "".join(_one(r) for r in rows[1:])
    fold = f'<details class="fold"><summary>{len(rows) - 1} more</summary>{more}</details>' if more else ""
    return f"<section><h3>{title}</h3>{_one(rows[0])}{fold}</section>"


def _one(row: dict[str, Any]) -> str:
    reward = f"reward {figures(row['reward'])}" if row["reward"] is not None else "no reward"
    prompt = f'<pre class="prompt" dir="auto">{text(excerpt(row["prompt"], 300, 100))}</pre>' if row["prompt"] else ""
    return (
        f'<article class="sample"><p class="meta"><b>{reward}</b> <span>step {row["step"]:g}</span></p>{prompt}'
        f'<pre dir="auto">{text(excerpt(row["response"], _HEAD, _TAIL))}</pre>'
        f'<p class="where">{text(row["source"], 200)}, row {row["row"]}</p></article>'
    )
