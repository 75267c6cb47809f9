"""Console logs in which a trainer prints a Python dict for each log call, between progress bars or inside other text (TRL, OpenRLHF)."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from rl_advisor.bytes_in import bare_name, head, lines
from rl_advisor.columns import Row, curves_of
from rl_advisor.log_lines import Watch
from rl_advisor.run import Run

FORMAT = "dict_console"
CONSOLE = True
DICT_LIMIT = 40_000
"""Characters of one dict, however many lines a terminal wrapped it into."""
_SUFFIXES = (".log", ".txt", ".out", ".err", ".md", "stdout", "stderr", "output", "console")
_WORDS = r"loss|reward|epoch|grad_norm|learning_rate|kl|entropy|eval_\w+|policy_loss|actor_loss"
_START = re.compile(rb"\{['\"](?:[\w./@ -]{0,80}?/)?(?:" + _WORDS.encode() + rb")[\w/@.-]{0,80}['\"]:\s*['\"]?(?:np\.\w+\()?[-+.\dni]")
_DICT = re.compile(r"\{(['\"][^{}]*)\}")
_PAIR = re.compile(r"""(['"])([^'"{}]{1,200})\1\s*:\s*['"]?(?:(?:np|torch|numpy)?\.?\w+\()?(-?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)|None)\b""")  # fmt: skip
_STEP = re.compile(r"(?:global[_ ])?\b[Ss]tep[ :=]+(\d+)\W*$")
_BAR = re.compile(r"\|\s*(\d+)/(\d+) \[")
_KNOWN = re.compile(rf"(?:^|/)(?:eval_)?(?:{_WORDS})")


def claims(path: Path) -> bool:
    """Whether a text log has a dict that starts with a training metric in its first half megabyte."""
    return bare_name(path).endswith(_SUFFIXES) and _START.search(head(path, 524_288)) is not None


def read(path: Path) -> Run:
    """One row for each dict, and the events between them.

    The steps are those the text itself names before each dict, or those of the progress bar when it moves evenly; otherwise ``axis`` is
    ``row`` and the steps count the training rows so far (an evaluation row has the number of the training row before it).
    """
    watch = Watch(path.name)
    rows: list[Row] = []
    named: list[int | None] = []
    bars: list[dict[int, int]] = []
    seen: dict[int, int] = {}
    count = 0.0
    for before, body, line in _dicts(path):
        seen.update((int(total), int(done)) for done, total in _BAR.findall(before or line))
        values = {m.group(2): math.nan if m.group(3) == "None" else float(m.group(3)) for m in _PAIR.finditer(body)} if body else {}
        if not _is_row(values):
            watch.look(line, count)
            continue
        step = _STEP.search(before[-80:])
        if _is_evaluation(values):
            values.pop("epoch", None)
        else:
            count += 1
        rows.append((count, math.nan, values))
        named.append(int(step.group(1)) if step else None)
        bars.append(dict(seen))
    run = Run(events=watch.finish(count), formats=(FORMAT,), axis="row")
    return _with_steps(run, path.name, rows, named, bars)


def _dicts(path: Path) -> Iterator[tuple[str, str, str]]:
    """Text before, body of the dict ('' when the line has none), and the line."""
    held = ""
    for line in lines(path):
        held = held + line if held else line
        start = held.rfind("{'") if "{'" in held else held.rfind('{"')
        if start >= 0 and "}" not in held[start:] and len(held) - start < DICT_LIMIT and _open(held[start:]):
            continue
        found = list(_DICT.finditer(held)) if start >= 0 else []
        at = 0
        for match in found:
            yield held[at : match.start()], match.group(1), held
            at = match.end()
        if not found:
            yield "", "", held
        held = ""
    if held:
        yield held, held[held.rfind("{") + 1 :].rpartition(",")[0], held


def _open(text: str) -> bool:
    """Whether an unclosed dict looks like one of metrics that was wrapped."""
    return _KNOWN.search(text[2:90]) is not None and _PAIR.match(text, 1) is not None


def _is_row(values: dict[str, float]) -> bool:
    return len(values) >= 2 and "train_runtime" not in values and any(_KNOWN.search(name) for name in values)


def _is_evaluation(values: dict[str, float]) -> bool:
    own = [name for name in values if name not in ("epoch", "step")]
    return bool(own) and all(name.startswith(("eval_", "eval/")) for name in own)


def _with_steps(run: Run, source: str, rows: list[Row], named: list[int | None], bars: list[dict[int, int]]) -> Run:
    if rows and all(step is not None for step in named):
        exact = [float(step) for step in named if step is not None]
        return _stepped(run, source, rows, exact, None)
    training = [i for i, row in enumerate(rows) if not _is_evaluation(dict(row[2]))]
    for total in sorted(set().union(*(bars[i] for i in training)) if training else (), reverse=True):
        at = [bars[i].get(total, 0) for i in training]
        if len(at) >= 3 and at[0] > 0 and len({b - a for a, b in pairwise(at)}) == 1 and at[1] > at[0]:
            return _stepped(run, source, rows, [float(bar.get(total, 0)) for bar in bars], total)
    return replace(run, curves=curves_of(rows, source))


def _stepped(run: Run, source: str, rows: list[Row], steps: list[float], planned: int | None) -> Run:
    exact = [(step, row[1], row[2]) for step, row in zip(steps, rows, strict=True)]
    of_row = {row[0]: step for step, row in zip(steps, rows, strict=True)}
    events = tuple(replace(e, step=of_row.get(e.step or 0.0, 0.0)) for e in run.events)
    return replace(run, curves=curves_of(exact, source), events=events, axis="step", planned_steps=planned)
