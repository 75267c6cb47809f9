"""The samples worth reading, short: best rewarded, worst rewarded and random of the latest step, each with where it stands."""

from typing import Any

from rl_advisor.answers.episodes import failure_lines, formula_lines
from rl_advisor.features.text.turns import Turn
from rl_advisor.reports.html.words import figures, text
from rl_advisor.run import Run
from rl_advisor.samples import spotcheck
from rl_advisor.samples.episodes import episode_turns, why_failed
from rl_advisor.samples.excerpts import excerpt
from rl_advisor.samples.reward_formula import paid_for

COUNT = 2
_KINDS = (("highest", "Best rewarded"), ("lowest", "Worst rewarded"), ("random", "Random, latest step"))
_HEAD, _TAIL, _TURNS = 320, 120, 24


def samples(run: Run) -> str:
    """What the samples say of failures and of the reward, then the triad as three columns; empty when the run holds no responses."""
    if not len(run.rollouts):
        return ""
    lines = [*failure_lines(why_failed(run)), *formula_lines(paid_for(run))]
    told = "".join(f"<p>{text(line)}</p>" for line in lines)
    said = f'<details class="fold"><summary>Why episodes failed, and what is paid</summary>{told}</details>' if told else ""
    columns = "".join(_column(run, title, rows) for title, rows in triad(run) if rows)
    return f'{said}<p class="note">Model output, shown verbatim.</p><div class="triad">{columns}</div>'


def triad(run: Run) -> list[tuple[str, list[dict[str, Any]]]]:
    """Best rewarded, worst rewarded and random samples under their titles; empty when the run holds no responses."""
    picked = spotcheck.triad(run, count=COUNT) if len(run.rollouts) else {}
    return [(title, picked[kind]) for kind, title in _KINDS if kind in picked]


def _column(run: Run, title: str, rows: list[dict[str, Any]]) -> str:
    more = "".join(_one(run, r) for r in rows[1:])
    fold = f'<details class="fold"><summary>{len(rows) - 1} more</summary>{more}</details>' if more else ""
    return f"<section><h3>{title}</h3>{_one(run, rows[0])}{fold}</section>"


def _one(run: Run, row: dict[str, Any]) -> str:
    reward = f"reward {figures(row['reward'])}" if row["reward"] is not None else "no reward"
    prompt = f'<pre class="prompt" dir="auto">{text(excerpt(row["prompt"], 300, 100))}</pre>' if row["prompt"] else ""
    body = _turns(run, row) or f'<pre dir="auto">{text(excerpt(row["response"], _HEAD, _TAIL))}</pre>'
    return (
        f'<article class="sample"><p class="meta"><b>{reward}</b> <span>step {row["step"]:g}</span></p>{prompt}{body}'
        f'<p class="where">{text(row["source"], 200)}, row {row["row"]}</p></article>'
    )


def _turns(run: Run, row: dict[str, Any]) -> str:
    """The turns of an episode, each folded under who spoke, how it begins and what it calls; empty for an answer of one turn."""
    rows = run.rollouts
    here = (
        rows[(rows["source"] == row["source"]) & (rows["row"] == row["row"])] if {"source", "row"} <= set(rows.columns) else rows.iloc[:0]
    )
    turns = episode_turns(here.iloc[0].to_dict()) if len(here) else ()
    if len(turns) < 2:
        return ""
    shown = turns if len(turns) <= _TURNS else (*turns[: _TURNS // 2], *turns[-_TURNS // 2 :])
    left = f'<p class="note">{len(turns) - len(shown)} turns in the middle are left out.</p>' if len(shown) < len(turns) else ""
    folded = [_folded(turn) for turn in shown]
    return "".join([*folded[: _TURNS // 2], left, *folded[_TURNS // 2 :]])


def _folded(turn: Turn) -> str:
    """One turn under who spoke, how it begins and which tools it calls."""
    called = "".join(f" <code>{text(name or given, 40)}</code>" for name, given in turn.calls[:4])
    begins = f"<b>{text(turn.role, 20)}</b> {text(' '.join(turn.text.split())[:90])}{called}"
    calls = "".join("\n" + text(excerpt(f"{name} {given}", 200, 60)) for name, given in turn.calls[:8])
    return f'<details class="fold"><summary>{begins}</summary><pre dir="auto">{text(excerpt(turn.text, 600, 200))}{calls}</pre></details>'
