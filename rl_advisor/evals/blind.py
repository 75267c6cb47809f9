"""What an advisor may see of a labeled run: nothing later than the cut, and no name, path or time that gives the answer away.

``evals/lab/leaks.py`` is the independent check of such a view, and knows the label.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rl_advisor.run import Gap, Run

NAME = "run"
_PROGRESS = ("global_step", "epoch", "total_flos", "num_input_tokens_seen", "best_")
_NAMES = re.compile(
    r"(.*[/._-])?(((run|exp|experiment|trial|project|job|study|session|wandb|group)_?(name|id))|(run|base|root)|name|project|group|entity|user"
    r"|tags?|notes?|host|path|dir|paths|file|files|folder|url|uri|token|hostname|repo|model_id|space_id|bucket_id)",
    re.IGNORECASE,
)
PATH = re.compile(r"(^|\s)(~|\.{0,2})/\S|[A-Za-z]:\\|://|\S/\S+/\S")
LABEL_KEYS = frozenset(
    {
        "verdict",
        "verdicts",
        "links",
        "scenario",
        "continue_pays",
        "gain_after",
        "injected_at",
        "true_score_drop_at",
        "truth",
        "eval_visible",
    }
)


def blind(run: Run, cut: float, *, whole: bool = False) -> Run:
    """The run as it looked at step ``cut``, renamed, its clock started at 0, without paths, names or counters that tell the end.

    ``whole`` leaves out the cutting, for the full length.
    """
    seen = run if whole else run.until(cut)
    start = _start(seen)
    return replace(
        seen,
        name=NAME,
        curves={
            name: replace(c, source=_kinds(c.source), time=None if c.time is None else c.time - start) for name, c in seen.curves.items()
        },
        rollouts=seen.rollouts.drop(columns=[c for c in ("source",) if c in seen.rollouts]),
        telemetry=seen.telemetry.assign(time=seen.telemetry["time"] - start) if len(seen.telemetry) else seen.telemetry,
        checkpoints=tuple(replace(c, path=f"checkpoint-{c.step}") for c in seen.checkpoints),
        events=tuple(replace(e, text=_without_paths(e.text), where=_kind(e.where)) for e in seen.events),
        config=_blind_config(seen.config),
        settings=_blind_config(seen.settings),
        gaps=tuple(Gap(_kinds(g.where), _without_paths(g.why)) for g in seen.gaps if whole or not tells_later(g.why, cut)),
        files=tuple(sorted({_kind(f) for f in seen.files})),
    )


def _start(run: Run) -> float:
    times = [c.time[np.isfinite(c.time)] for c in run.curves.values() if c.time is not None]
    times += [run.telemetry["time"].to_numpy(np.float64)] if len(run.telemetry) else []
    return min((float(t.min()) for t in times if t.size), default=0.0)


def _kinds(files: str) -> str:
    """Files, listed with commas, by their kinds."""
    return ", ".join(sorted({_kind(file) for file in files.split(", ")}))


def _without_paths(text: str) -> str:
    """The text with every word that looks like a path taken out; file names that carry a host or a date count as paths."""
    return " ".join("<path>" if PATH.search(word) or "tfevents" in word else word for word in text.split(" "))


def _kind(file: str) -> str:
    """A file by its kind: the last part of its path, without numbers, dates and hosts."""
    last = file.replace("\\", "/").rsplit("/", 1)[-1]
    return "events.out.tfevents" if "tfevents" in last else re.sub(r"[-_.]?\d+", "", last)


def _blind_config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _clean(v) for k, v in config.items() if not _tells(k) and not (isinstance(v, str) and PATH.search(v))}


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _blind_config({str(k): v for k, v in value.items()})
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value if not (isinstance(v, str) and PATH.search(v))]
    return value


def _tells(key: str) -> bool:
    last = re.split(r"[/.]", key)[-1]
    return bool(_NAMES.fullmatch(key)) or last.startswith(_PROGRESS) or last.lower() in LABEL_KEYS


def tells_later(text: str, cut: float) -> bool:
    """Whether a text names a number beyond the cut."""
    return any(float(n) > cut for n in re.findall(r"\d+", text))
