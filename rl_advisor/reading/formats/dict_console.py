"""Console logs in which a trainer prints a Python dict for each log call, between progress bars or inside other text (TRL, OpenRLHF)."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rl_advisor.reading.parsing.bytes_in import bare_name, head, lines, plain_text
from rl_advisor.reading.parsing.columns import curves_of
from rl_advisor.reading.parsing.log_lines import CONSOLES, Watch
from rl_advisor.reading.parsing.metric_table import OF_PLAN
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Named, Run

FORMAT = "dict_console"
DICT_LIMIT = 40_000
"""Characters of one dict, however many lines a terminal wrapped it into."""
_DICT = re.compile(r"\{(['\"][^{}]*)\}")
_NUMBER = r"-?(?:\d++(?:_\d++)*+(?:\.\d*+)?(?:[eE][-+]?\d++)?|\.\d++(?:[eE][-+]?\d++)?|nan|NaN|inf|Infinity)|None"
_PAIR = re.compile(rf"""(['"])([^'"{{}}]{{1,200}})\1\s*:\s*['"]?(?:(?:np|torch|numpy)?\.?\w+\()?({_NUMBER})(?![\w.])""")
_STEP = re.compile(r"(?:\b|_)(?:[Ss]tep|rollout|eval|perf)['\"]?[ :=]+(\d+)\b[^{}\d]{0,30}$")
_BAR = re.compile(r"\|\s*(\d+)/(\d+) \[")
_KNOWN = re.compile(
    r"(?:\w+/)?(?:eval_)?(?:loss|rewards?(?:_mean|_std|/.+)?|epoch|grad_norm|learning_rate|kl|entropy|step|global_step"
    r"|raw_reward|kl_loss|ppo_kl|pg_clipfrac|(?:policy|actor|value|critic|entropy|pg|vf)_loss|mean_reward|return|score(?:/mean)?"
    r"|accuracy|mean_token_accuracy)(?:@\w+)?|eval[_/].+|rollout/(?:response_len|truncated|zero_std|repetition|raw_reward)\S{0,80}"
)
"""Names of which a row of training metrics has two; other dicts in a log are settings."""
_OPENED = re.compile(rf"(?:{_KNOWN.pattern})$|completions/|num_|.*/")
"""What the first name of a row may be that a terminal wrapped."""


class _Said(NamedTuple):
    """A dict: how many rows of training there were, what it says, the step that the text names, and where the bars of each length stand."""

    order: float
    logged: dict[str, float]
    step: int | None
    bars: dict[int, int]


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether a text log has a dict of training metrics in its first megabyte."""
    if not bare_name(path).endswith(CONSOLES):
        return False
    start = head(path, 1_048_576)
    if b"{" not in start:
        return False
    return any(_is_row(_values(m.group(1))) for m in _DICT.finditer(start.decode("utf-8", "replace")))


def read(path: Path, _: Request = WHOLE) -> Run:
    """One row for each dict, and the events between them.

    The steps are those the text itself names before each dict, or those of the progress bar when it moves evenly; otherwise ``axis`` is
    ``row`` and the steps count the training rows so far (an evaluation row has the number of the training row before it).
    """
    watch = Watch()
    rows: list[_Said] = []
    seen: dict[int, int] = {}
    count = 0.0
    for before, body, line in _dicts(watch.through(lines(path))):
        seen.update((int(total), int(done)) for done, total in _BAR.findall(before if body else line))
        values = _values(body)
        if not _is_row(values):
            watch.look(line, count)
            continue
        own = next((key for key in (OF_PLAN, "step", "global_step") if key in values), "")
        step = re.match(r"(\d+)", str(values.pop(own))) if own else _STEP.search(before[-80:])
        if _is_evaluation(values):
            values.pop("epoch", None)
        else:
            count += 1
        rows.append(_Said(count, values, int(step.group(1)) if step else None, dict(seen)))
    known, planned = _steps_of(rows)
    steps = known or [row.order for row in rows]
    of_row = {row.order: step for step, row in zip(steps, rows, strict=True)}
    stepped = [(step, math.nan, row.logged) for step, row in zip(steps, rows, strict=True)]
    events = tuple(replace(e, step=of_row.get(e.step or 0.0, 0.0)) for e in watch.finish(count))
    axis = "step" if known else "row"
    return Run(curves=curves_of(stepped), events=events, axis=axis, planned_steps=planned)


def _dicts(text: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Text before, body of the dict ('' when the line has none), and the line."""
    held = last = ""
    for line in map(plain_text, text):
        held = held + line if held else line
        start = held.rfind("{'") if "{'" in held else held.rfind('{"')
        if (
            start >= 0
            and "}" not in held[start:]
            and len(held) - start < DICT_LIMIT
            and (first := _PAIR.match(held, start + 1))
            and _OPENED.match(first[2])
        ):
            continue
        found = list(_DICT.finditer(held)) if start >= 0 else []
        at = 0
        for match in found:
            yield (held[at : match.start()] if held[: match.start()].strip() else last), match.group(1), held
            at = match.end()
        if not found or held[at:].strip():
            yield "", "", held[at:]
        held, last = "", line
    if held:
        yield held, held[held.rfind("{") + 1 :].rpartition(",")[0], held


def _values(body: str) -> dict[str, float]:
    return {m.group(2): math.nan if m.group(3) == "None" else float(m.group(3)) for m in _PAIR.finditer(body)}


def _is_row(values: dict[str, float]) -> bool:
    """Whether it holds two names of metrics, or nothing but evaluations, be it one."""
    known = sum(_KNOWN.fullmatch(name) is not None for name in values)
    return "train_runtime" not in values and (known >= 2 or (known > 0 and _is_evaluation(values)))


def _is_evaluation(values: Named) -> bool:
    own = [name for name in values if name not in ("epoch", "step")]
    return bool(own) and all(name.startswith(("eval_", "eval/")) for name in own)


def _steps_of(rows: Sequence[_Said]) -> tuple[list[float], int | None]:
    """The step of each row and what is planned; none where neither the text nor a progress bar tells."""
    named = [float(row.step) for row in rows if row.step is not None]
    if len(named) == len(rows):
        return named, None
    bars = [row.bars for row in rows if not _is_evaluation(row.logged)]
    for total in sorted({total for bar in bars for total in bar}, reverse=True):
        if fit := _fit([bar.get(total, 0) for bar in bars]):
            return [fit[0] + fit[1] * row.order for row in rows], total
    return [], None


def _fit(bar: list[int]) -> tuple[int, int] | None:
    """Start and pace of the steps when the progress bar at the rows moves evenly with them, None when it does not.

    Standard output is often written in blocks, long after the bar, which is not held back: only the last row before the bar moves on
    tells where the rows stand.
    """
    ends = [i for i in range(len(bar)) if bar[i] and (i + 1 == len(bar) or bar[i + 1] != bar[i])]
    if len(ends) < 3:
        return None
    pace, left = divmod(bar[ends[1]] - bar[ends[0]], ends[1] - ends[0])
    start = bar[ends[0]] - pace * (ends[0] + 1)
    ahead = [bar[i] - start - pace * (i + 1) for i in ends]
    even = sum(0 <= steps < max(pace, 1) for steps in ahead) >= 0.9 * len(ends)
    return (start, pace) if even and not left and pace > 0 and start >= 0 else None
