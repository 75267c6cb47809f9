"""How columns of strangers become a rollout table: which column is the prompt, the response, the reward, and which is left as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rl_advisor.reading.parsing.cells import as_cut, as_number, is_numeric, named_numbers
from rl_advisor.reading.parsing.chat import as_text, split_chat, turns_of
from rl_advisor.reading.parsing.columns import WIDEST
from rl_advisor.reading.parsing.sample_names import LAYOUTS, NAMES, Layout
from rl_advisor.run import ROLLOUT_COLUMNS, Floats, Gap

if TYPE_CHECKING:
    import pandas as pd

NOTHING_SAID: Mapping[str, str] = MappingProxyType({})
"""What a caller says of columns who says nothing."""


_EVAL = re.compile(r"(?:^|[_\-.])(?:val|eval|evals|test|valid|validation)(?:$|[_\-.])")
_MODELS_OWN = re.compile(
    r"(?:llm|model|agent|assistant|bot|policy|gpt\w*|final)s?_(?:answer|output|response|reply|text|completion|generation)s?"
)
"""What a column is called that holds what the model said."""
_STEP = re.compile(r"(?:step|iteration|iter|completions|epochstep|rollout)[_-]?0*(\d{1,9})(?!\d)")


def layout_of(names: Iterable[str]) -> Layout | None:
    """The known writer whose columns are all among ``names``, or None."""
    have = set(names)
    return next((layout for layout in LAYOUTS if layout.needs <= have), None)


def roles(names: Sequence[str], said: Mapping[str, str] = NOTHING_SAID) -> dict[str, str]:
    """Our name -> the column it is, where that can be told: by the caller (``said``), by a known writer's columns, else by its name."""
    found = {ours: raw for ours, raw in said.items() if raw in names}
    lower = {re.sub(r"\W+", "_", name.lower()): name for name in reversed(names[:WIDEST])}
    layout = layout_of(names)
    known = [(ours, [raw]) for raw, ours in layout.meaning.items()] if layout else []
    for ours, theirs in (*known, *((ours, [lower[name] for name in theirs if name in lower]) for ours, theirs in NAMES.items())):
        raw = next((name for name in theirs if name in names and name not in found.values()), None)
        if raw is not None:
            found.setdefault(ours, raw)
    if "response" not in found and (own := next((name for plain, name in lower.items() if _MODELS_OWN.fullmatch(plain)), None)):
        found["response"] = own
    return found


def path_step(path: PurePath) -> int | None:
    """The training step that a file's own name or its folder's name says, or None."""
    if path.stem.isdigit():
        parent = path.parent.name
        return int(parent[:9]) if parent.isdigit() else int(path.stem[:9])
    for part in (path.stem, path.parent.name):
        if match := _STEP.search(part.lower()):
            return int(match[1])
    return None


def path_split(path: PurePath) -> str:
    """``eval`` when the file's or its folders' names say that these responses were for evaluation, else ``train``."""
    # Only folders that surely belong to the run are looked at: what lies above it may be called "test" for any reason.
    folder = path.parent.parent if path.parent.name.isdigit() else path.parent
    return "eval" if any(_EVAL.search(part.lower()) for part in (path.stem, folder.name)) else "train"


def rollout_table(rows: pd.DataFrame, path: PurePath, said: Mapping[str, str] = NOTHING_SAID) -> tuple[pd.DataFrame, tuple[Gap, ...]]:
    """The rows with our columns where their meaning can be told and raw names elsewhere; and what had to be guessed or is missing.

    ``rows`` has one response a row and keeps its own index in ``row``; ``said`` is that of ``roles``.
    The step comes from a column, else from the file's name; of a table that is known to write only the parts of a reward the sum is taken.
    """
    names = [str(name) for name in rows.columns]
    raw, layout = roles(names, said), layout_of(names)
    sure = {*said.values(), *(layout.meaning if layout else ())}
    guessed = [ours for ours, name in raw.items() if name not in sure and name.lower() not in (ours, "completion")]
    notes = [f"column '{raw[ours]}' was taken as the {ours}: guessed from its name" for ours in guessed]
    meaning = {name: ours for ours, name in raw.items()}
    # A raw name does not stand where one of ours stands already.
    free = [f"other/{name}" if name in raw or name in ("source", "row") else name for name in names]
    table = _texts(rows.set_axis([meaning.get(name, other) for name, other in zip(names, free, strict=True)], axis=1))
    table, missing = _steps(table, path)
    table = _numbers(_with_parts(table))
    table["group"] = _groups(table)
    table["split"] = _splits(table, path)
    table["source"] = path.name
    table["row"] = rows.index.to_numpy()
    parts = _reward_columns(rows, meaning) if layout and {"completion", "advantage"} <= {*names} else []
    table, unsure = _with_reward(table, parts) if parts else (table, "")
    return table, tuple(Gap("", note) for note in (*notes, missing, unsure) if note)


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    """Prompt and response as text; a conversation keeps its turns as well, from the model's first word on, and its calls are counted."""
    import pandas as pd

    answers = table["response"].tolist() if "response" in table else [""] * len(table)
    prompts = table["prompt"].tolist() if "prompt" in table else [""] * len(table)
    turns = [turns_of(answer) for answer in answers]
    if any(turns):
        halves = [((), t) if p is not None and len(p) else split_chat(t) for p, t in zip(map(as_text, prompts), turns, strict=True)]
        prompts = [before or p for (before, _), p in zip(halves, prompts, strict=True)]
        answers = [after or a for (_, after), a in zip(halves, answers, strict=True)]
        table["turns"] = pd.Series([after or None for _, after in halves], index=table.index, dtype=object)
        table["tool_calls"] = [float(sum(len(turn.calls) for turn in after)) for _, after in halves]
    table["response"] = pd.Series([as_text(a) for a in answers], index=table.index, dtype=object)
    table["prompt"] = pd.Series([as_text(p) for p in prompts], index=table.index, dtype=object)
    return table


def _steps(table: pd.DataFrame, path: PurePath) -> tuple[pd.DataFrame, str]:
    said, told = path_step(path), "step" in table
    step = np.array([as_number(v) for v in table["step"]] if told else np.nan)
    lost = ~np.isfinite(step)
    unsaid = "" if said is not None else "neither a column nor the file's name says the training step; all rows count as step 0"
    why = (f"{lost.sum()} rows have no readable step" if told else unsaid) if lost.any() else ""
    return table.assign(step=np.where(lost, float(said or 0), step)), why


def _with_parts(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the named numbers inside its ``reward`` and ``metrics`` cells as columns of their own."""
    for column, prefix in (("reward", "reward/"), ("metrics", "")):
        told = column in table and not is_numeric(table[column])
        for name, value in named_numbers(table[column]).items() if told else ():
            if name != "total" and (own := f"{prefix}{name}") not in table and name not in ROLLOUT_COLUMNS:
                table[own] = value
    return table


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Reward, advantage and length as floats (NaN where there is none), the ``reward`` column always there."""
    if "seqlen" in table and "prompt_len" in table and "length" not in table:
        table["length"] = table["seqlen"].map(as_number) - table["prompt_len"].map(as_number)
    if "truncated" in table and "stop" not in table and any(isinstance(v, str) for v in table["truncated"]):
        table["stop"] = [v if isinstance(v, str) else "" for v in table["truncated"]]
    folds: dict[str, Callable[..., float]] = {"reward": sum, "advantage": fmean, "length": sum}
    for name in (*folds, "truncated"):
        if name in table:
            table[name] = np.array([as_number(v, folds[name]) if name in folds else as_cut(v) for v in table[name]], np.float64)
    return table if "reward" in table else table.assign(reward=np.nan)


def _groups(table: pd.DataFrame) -> Any:
    """The group of each response: the file's own, when it gathers several responses to one prompt, else the shared prompt in a step."""
    import pandas as pd

    if "group" in table:
        own = table["group"].astype(str)
        sizes = table.groupby([table["step"], own]).size()
        if len(table) == 1 or (len(sizes) and sizes.max() > 1):
            return own
    shared = pd.factorize(table["prompt"])[0]
    if "advantage" in table and (size := _block(shared, table["advantage"].to_numpy(np.float64))):
        return (np.arange(len(table)) // size).astype(str)
    return shared.astype(str)


def _block(prompt: npt.NDArray[np.int64], advantage: Floats) -> int:
    """Rows of one group when one prompt stands in several groups in a row: the smallest run of rows whose advantages cancel; 0 if none."""
    n = len(prompt)
    if not np.isfinite(advantage).all() or not advantage.any():
        return 0
    for size in (s for s in range(2, min(n, 256) + 1) if n % s == 0):
        same = (prompt.reshape(-1, size) == prompt[::size, None]).all()
        if same and np.abs(advantage.reshape(-1, size).mean(axis=1)).max() < 1e-3 * advantage.std():
            return size
    return 0


def _splits(table: pd.DataFrame, path: PurePath) -> Any:
    if "split" in table:
        return np.array(["eval" if _EVAL.search(str(s).lower()) else "train" for s in table["split"]], object)
    return path_split(path)


def _reward_columns(rows: pd.DataFrame, meaning: Mapping[str, str]) -> list[str]:
    """The number columns between the completion and the advantage: the reward functions, then numbers the user added."""
    names = list(rows.columns)
    between = names[names.index("completion") + 1 : names.index("advantage")]
    return [name for name in between if is_numeric(rows[name]) and meaning.get(name, "reward") == "reward"]


def _with_reward(table: pd.DataFrame, parts: list[str]) -> tuple[pd.DataFrame, str]:
    """The table with ``reward`` (sum of the parts that the advantage follows) and ``reward/<part>``; and what is not certain."""
    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(name, len(numbers)) for name in table["group"].tolist()], np.intp)
    values = np.column_stack([table[name].to_numpy(np.float64) for name in parts])
    advantage = table["advantage"].to_numpy(np.float64)
    advantage = np.where(np.isnan(advantage), 0.0, advantage)
    told = {n: _explains(values[:, :n], advantage, group) for n in range(len(parts), 0, -1)}
    used = next((n for n, fits in told.items() if fits), len(parts))
    table = table.set_axis([f"reward/{name}" if name in parts[:used] else name for name in table.columns], axis=1)
    table["reward"] = np.nansum(values[:, :used], axis=1)
    if told[used] is not False or used == 1:
        return table, ""
    return table, "no total reward is written; the unweighted sum of the reward functions was taken, which the advantages do not confirm"


def _explains(values: Floats, advantage: Floats, group: npt.NDArray[np.intp]) -> bool | None:
    """Whether the advantages are, group by group, a scaled copy of the centred sum of these columns; None when no group has a spread."""
    count = np.bincount(group)

    def centred(x: Floats) -> Floats:
        return x - (np.bincount(group, x) / count)[group]

    total, advantage = centred(np.nansum(values, axis=1)), centred(advantage)
    cross = np.bincount(group, total * advantage)
    size = np.sqrt(np.bincount(group, total**2) * np.bincount(group, advantage**2))
    tell = size > 1e-9
    return bool((cross[tell] / size[tell] > 0.999).mean() > 0.95) if tell.any() else None
