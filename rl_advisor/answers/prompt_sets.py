"""Prompts of training against prompts of the test: how many, shared ones, lengths, and how hard each set is for the base model.

Rows are read from JSONL, JSON, CSV or Parquet; a pass rate of the base model is taken where a column of that kind is there.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.answers.table_file import table
from rl_advisor.features.aggregate import improvement, rank_p
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.reading.parsing.chat import as_text
from rl_advisor.reading.parsing.sample_names import NAMES
from rl_advisor.run import Floats
from rl_advisor.samples.text_change import wilson

PASSED = (
    "pass_rate",
    "base_pass_rate",
    "solve_rate",
    "success_rate",
    "accuracy",
    "acc",
    "correct",
    "is_correct",
    "passed",
    "reward",
    "score",
)
"""Columns that say how often the base model solves a prompt, the likeliest first; the mean over the rows of one prompt is taken."""
MOST, LONGEST = 100_000, 20_000
WINDOW = 13
"""Words in a row that two prompts must share to be called near copies (the window of GPT-3's contamination study, arXiv:2005.14165)."""
SMALL = 0.64
"""Share of pairs (Vargha and Delaney's A, 2000: medium from .64) from which two sets are called different in length."""


def compared(train: Path, test: Path) -> Answer:
    """Both sets described, what they share, and one sentence for each thing that speaks against training on one for the other.

    Raises:
        UsageError: a file holds no prompts; the message names its columns.
    """
    sets = {"train": described(train), "test": described(test)}
    a, b = sets["train"], sets["test"]
    same = set(a["_keys"]) & set(b["_keys"])
    windows = set().union(*(_windows(key) for key in a["_keys"]))
    near = sum(key not in same and bool(_windows(key) & windows) for key in b["_keys"])
    shared = {"the_same": len(same), "near_copies": near, "of_test": len(b["_keys"])}
    faults = [*_shared(shared), *(_lengths(a, b)), *(_difficulty(a, b))]
    told = {name: {k: v for k, v in part.items() if not k.startswith("_")} for name, part in sets.items()}
    unknown = [name for name, part in sets.items() if part["pass_rate"] is None]
    lacks = (
        f" How hard they are for the base model is not in the rows of {' and '.join(unknown)}: add a column pass_rate." if unknown else ""
    )
    counted = f"{a['prompts']} prompts to train on, {b['prompts']} to test on; {len(same)} are the same, {near} more are near copies."
    return {**told, "shared": shared, "faults": faults, "says": " ".join([counted, *faults]) + lacks}


def described(path: Path) -> Answer:
    """A set of prompts: how many different ones, their length in words, and the base model's pass rate over them, where it is there."""
    found = table(path, MOST)
    rows, name = found.to_dict("records"), next((n for n in NAMES["prompt"] if n in found), None)
    if name is None:
        columns = ", ".join(sorted(map(str, found))[:12]) or "nothing"
        raise UsageError(f"{path.name} holds no prompts; it has {columns}. Names that are known: {', '.join(NAMES['prompt'][:8])}")
    passed = next((n for n in PASSED if sum(_number(row.get(n)) is not None for row in rows) * 2 > len(rows)), None)
    rates: dict[str, list[float]] = {}
    for row in rows:
        key = _plain(as_text(row.get(name)))
        if key:
            rate = _number(row.get(passed)) if passed else None
            rates.setdefault(key, []).extend([] if rate is None else [rate])
    means = np.array([np.mean(r) for r in rates.values() if r], dtype=np.float64)
    sizes = np.array([len(key.split()) for key in rates], dtype=np.float64)
    return {
        "file": path.name,
        "prompts": len(rates),
        "words": [float(q) for q in np.quantile(sizes, [0.05, 0.5, 0.95])] if sizes.size else [],
        "pass_rate": _rate(means) if means.size and means.min() >= 0 and means.max() <= 1 else None,
        "pass_rate_column": passed,
        "_keys": tuple(rates),
        "_sizes": sizes,
        "_means": means,
    }


def _rate(means: Floats) -> dict[str, float]:
    """The mean pass rate and the shares of prompts that are never and always solved: those give a group no spread."""
    return {
        "mean": float(means.mean()),
        "never": float(np.mean(means == 0)),
        "always": float(np.mean(means == 1)),
        "prompts": float(means.size),
    }


def _shared(shared: Mapping[str, int]) -> list[str]:
    """What shared prompts mean."""
    copies = shared["the_same"] + shared["near_copies"]
    if not copies:
        return []
    share = f"{100 * copies / shared['of_test']:.1f} %"
    return [f"{share} of the test's prompts stand in training: take these {copies} out, or the test measures memory."]


def _lengths(a: Answer, b: Answer) -> list[str]:
    """Whether one set's prompts are clearly longer."""
    if min(a["prompts"], b["prompts"]) < 8:
        return []
    longer, p = improvement(a["_sizes"], b["_sizes"]), rank_p(a["_sizes"], b["_sizes"])
    if p > 0.01 or max(longer.value, 1 - longer.value) < SMALL:
        return []
    return [f"The test's prompts have {b['words'][1]:.0f} words in the middle, training's {a['words'][1]:.0f}: another distribution."]


def _difficulty(a: Answer, b: Answer) -> list[str]:
    """What the base model's pass rates say: no signal where nearly all are never or always solved, and sets that are not equally hard."""
    said = []
    if (rate := a["pass_rate"]) is not None and (flat := rate["never"] + rate["always"]) > 0.8:
        kind = "never" if rate["never"] > rate["always"] else "always"
        said.append(
            f"{100 * flat:.0f} % of training's prompts are {kind} solved by the base model: their groups have no spread. Filter to 0.1-0.9."
        )
    if a["pass_rate"] is not None and b["pass_rate"] is not None:
        (low_a, high_a), (low_b, high_b) = (wilson(part["pass_rate"]["mean"] * part["_means"].size, part["_means"].size) for part in (a, b))
        if low_a > high_b or low_b > high_a:
            said.append(
                f"The base model solves {a['pass_rate']['mean']:.2f} of training and {b['pass_rate']['mean']:.2f} of the test: "
                f"{'the test is harder' if low_a > high_b else 'training is harder'} than the other set."
            )
    return said


def _plain(text: str) -> str:
    """A prompt in small letters and single spaces, so that copies are told."""
    return re.sub(r"\W+", " ", text[:LONGEST].lower()).strip()


def _windows(key: str) -> set[int]:
    """Runs of words of a prompt, as numbers; a prompt that is shorter has none, and must be the same to be a copy."""
    words = key.split()
    return {hash(tuple(words[i : i + WINDOW])) for i in range(len(words) - WINDOW + 1)}


def _number(value: Any) -> float | None:
    """A pass rate or a verdict as a number, or None."""
    return float(value) if isinstance(value, int | float | np.number) and np.isfinite(value) else None
