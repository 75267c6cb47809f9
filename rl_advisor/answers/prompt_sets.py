"""Prompts of training against prompts of the test: how many, shared ones, lengths, and how hard each set is for the base model.

Rows are read from JSONL, JSON, CSV or Parquet; a pass rate of the base model is taken where a column of that kind is there.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_advisor import discovery
from rl_advisor.answers.table_file import table
from rl_advisor.features.aggregate import improvement, rank_p
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.reading.parsing.chat import as_text
from rl_advisor.reading.parsing.sample_names import NAMES
from rl_advisor.run import Floats
from rl_advisor.samples.text_change import wilson

PASSED: list[str] = discovery.table(__file__, "handed_in.toml")["passed"]
"""Columns that say how often the base model solves a prompt, the likeliest first; the mean over the rows of one prompt is taken."""
if TYPE_CHECKING:
    import pandas as pd

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
    (a, ours), (b, theirs) = described(train), described(test)
    same, windows = set(ours.index) & set(theirs.index), set().union(*map(_windows, ours.index))
    near = sum(key not in same and bool(_windows(key) & windows) for key in theirs.index)
    faults, copies, (x, y) = list[str](), len(same) + near, map(_sizes, (ours, theirs))
    if copies:
        share = f"{100 * copies / len(theirs):.1f} %"
        faults.append(f"{share} of the test's prompts stand in training: take these {copies} out, or the test measures memory.")
    if min(x.size, y.size) >= 8 and rank_p(x, y) <= 0.01 and abs(improvement(x, y).value - 0.5) >= SMALL - 0.5:
        middle = f"{np.median(y):.0f} words in the middle, training's {np.median(x):.0f}"
        faults.append(f"The test's prompts have {middle}: another distribution.")
    faults += _difficulty(ours.dropna(), theirs.dropna())
    unknown = " and ".join(name for name, part in (("train", a), ("test", b)) if part["pass_rate"] is None)
    lacks = f" How hard they are for the base model is not in the rows of {unknown}: add a column pass_rate." if unknown else ""
    counted = f"{a['prompts']} prompts to train on, {b['prompts']} to test on; {len(same)} are the same, {near} more are near copies."
    shared = {"the_same": len(same), "near_copies": near, "of_test": len(theirs)}
    return {"train": a, "test": b, "shared": shared, "faults": faults, "says": " ".join([counted, *faults]) + lacks}


def described(path: Path) -> tuple[Answer, "pd.Series[float]"]:
    """A set of prompts: how many, their length in words, the base model's pass rate over them; and that rate by prompt, NaN if unknown."""
    import pandas as pd

    found = table(path, MOST)
    name = next((n for n in NAMES["prompt"] if n in found), None)
    if name is None:
        columns = ", ".join(sorted(map(str, found))[:12]) or "nothing"
        raise UsageError(f"{path.name} holds no prompts; it has {columns}. Names that are known: {', '.join(NAMES['prompt'][:8])}")
    numbers = {n: pd.to_numeric(found[n], errors="coerce").astype(float) for n in PASSED if n in found}
    passed = next((n for n, rate in numbers.items() if rate.notna().mean() > 0.5), None)
    keys = found[name].map(lambda cell: _plain(as_text(cell)))
    means = pd.Series(numbers[passed] if passed else np.nan, index=found.index).groupby(keys.where(keys != ""), sort=False).mean()
    if not means.dropna().between(0, 1).all():
        means[:] = np.nan  # a reward on a scale of its own
    known, sizes = means.dropna(), _sizes(means)
    rate = {"mean": known.mean(), "never": (known == 0).mean(), "always": (known == 1).mean(), "prompts": float(known.size)}
    told = {
        "file": path.name,
        "prompts": len(means),
        "words": np.quantile(sizes, [0.05, 0.5, 0.95]).tolist() if sizes.size else [],
        "pass_rate": rate if known.size else None,
        "pass_rate_column": passed,
    }
    return told, means


def _sizes(means: "pd.Series[float]") -> Floats:
    return np.array([len(str(key).split()) for key in means.index], np.float64)


def _difficulty(a: "pd.Series[float]", b: "pd.Series[float]") -> list[str]:
    """What the base model's pass rates say: no signal where nearly all are never or always solved, and sets that are not equally hard."""
    said, (never, always) = [], ((a == 0).mean(), (a == 1).mean())
    if a.size and never + always > 0.8:
        share, kind = 100 * (never + always), "never" if never > always else "always"
        said = [f"{share:.0f} % of training's prompts are {kind} solved by the base model: their groups have no spread. Filter to 0.1-0.9."]
    (low_a, high_a), (low_b, high_b) = (wilson(part.sum(), part.size) for part in (a, b))
    if low_a > high_b or low_b > high_a:
        harder = "the test is harder" if low_a > high_b else "training is harder"
        said.append(f"The base model solves {a.mean():.2f} of training and {b.mean():.2f} of the test: {harder} than the other set.")
    return said


def _plain(text: str) -> str:
    """A prompt in small letters and single spaces, so that copies are told."""
    return re.sub(r"\W+", " ", text[:LONGEST].lower()).strip()


def _windows(key: str) -> set[int]:
    """Runs of words of a prompt, as numbers; a prompt that is shorter has none, and must be the same to be a copy."""
    words = key.split()
    return {hash(" ".join(words[i : i + WINDOW])) for i in range(len(words) - WINDOW + 1)}
