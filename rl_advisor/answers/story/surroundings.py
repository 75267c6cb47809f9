"""What stands around a judgement: the settings that matter, what was not logged and could change it, and where to look next."""

import re

import numpy as np

from rl_advisor.answers.context import on_record
from rl_advisor.answers.story.chain import cause_of
from rl_advisor.curves import outcomes
from rl_advisor.curves.task import task
from rl_advisor.discovery import table
from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.output.wording import pair, setting
from rl_advisor.run import Run

TABLES: Answer = table(__file__, "surroundings.toml")


def settings(run: Run) -> dict[str, str]:
    """The settings that matter by their plain names, the learning rate from first to last."""
    told = {"learning rate": rate} if (rate := _learning_rate(run)) else {}
    told |= {name: _said(run.settings[key]) for key, name in TABLES["settings"].items() if run.settings.get(key) is not None}
    if (held := outcomes.held_out(run)) is not None:
        told["evaluations"] = f"{int(np.isfinite(held.value).sum())}"
    if run.checkpoints:
        told["checkpoints"] = f"{len(run.checkpoints)}"
    return told


def _learning_rate(run: Run) -> str:
    curve = run.curves.get("policy/learning_rate")
    x = curve.numbers if curve is not None else np.empty(0)
    if x.size and x.max() > 0:
        a, b = pair(x[0], x[-1], "rate")
        return a if np.ptp(x) == 0 else f"{a} → {b}"
    given = run.settings.get("learning_rate")
    return _said(given) if given is not None else ""


def _said(x: object) -> str:
    return setting(x) if _WORD.fullmatch(str(x)) else "given"


_WORD = re.compile(r"[\w.+/-]{1,30}")
"""A setting's value that is told as it is; a longer one is the run's own text."""


def missing(run: Run) -> list[str]:
    """What was not logged, the most decisive first."""
    kinds, there = task(run).traits, on_record(run)
    ours = (row for row in TABLES["missing"] if row.get("kind", "") in ("", *kinds) and row.get("unlike") not in kinds)
    return [row["name"] for row in ours if not there(row)]


def second_call(run: Run, a: Assessment) -> str:
    """The tool call that is most likely to confirm or refute this judgement."""
    cause = cause_of(a)
    metrics = [str(e["metric"]) for e in cause.evidence] if cause is not None else []
    if len(run.rollouts) and ("rollouts" in metrics or a.verdict == "reward_hacking" or not metrics):
        return "spot_check_samples"
    score = outcomes.outcome(run)
    asked = dict.fromkeys([*metrics, *([score.name] if score is not None else [])])
    names = [run.curves[n].raw for n in asked if n in run.curves][:2]
    return f"summarize_curves(metrics={names})" if names else "load_run"
