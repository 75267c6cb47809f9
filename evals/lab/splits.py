"""The parts of a corpus: runs to look at while rules are written, and runs to test them on."""

from collections.abc import Iterable
from hashlib import sha256

from rl_advisor.evals.corpus import Label

SPLITS = ("smoke", "dev", "test")


def split_of(label: Label) -> str:
    """The split a run belongs to: the label's own word, else one that its family's name alone decides (1/8 smoke, 3/8 dev, 1/2 test)."""
    if label.split:
        return label.split
    place = sha256(label.family.encode()).digest()[0] % 8
    return "smoke" if place == 0 else "dev" if place < 4 else "test"


def of_split(labels: Iterable[Label], split: str) -> list[Label]:
    """The labels of one split."""
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; there are {', '.join(SPLITS)}")
    return [label for label in labels if split_of(label) == split]
