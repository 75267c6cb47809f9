"""Which logged name somebody means by what he types: the name or its end, however its letters are, a column's number, or a file."""

import difflib
import re
from collections.abc import Mapping, Sequence

from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, metric

_USUAL = ("reward/mean", "eval/score/*", "kl/ref", "entropy/mean", "response/length", "policy/loss")
"""Roles that people ask for most."""
_COLUMN = re.compile(r"(?i)(?:column|col|c|#)? ?(\d{1,4})")


def meant_names(mapping: Mapping[str, str], parts: Sequence[Run]) -> dict[str, str]:
    """Raw name -> our name, of a mapping {our name: what was typed}.

    Raises:
        KeyError: there is no such role, or nothing that can be meant; the message says what there is.
    """
    for ours in mapping:
        if metric(ours) is None:
            raise KeyError(f"{ours!r} is no role that a metric can have; near it: {', '.join(_roles_near(ours))}")
    return {_meant(asked, parts): ours for ours, asked in mapping.items()}


def _meant(asked: str, parts: Sequence[Run]) -> str:
    """The raw name that is meant; a file may stand before it, as in ``rewards.csv:2``."""
    file, _, inside = asked.rpartition(":")
    for text, some in ((asked, parts), (inside, [p for p in parts if file and p.files[0].endswith(file)])):
        if found := _named(text, some):
            return found
    of_file = [name for p in parts if p.files[0].endswith(asked) for name in p.curves]
    if len(of_file) == 1:
        return of_file[0]
    names = of_file or sorted({name for p in parts for name in p.curves})
    near = difflib.get_close_matches(asked, names, n=5, cutoff=0.3) or names[:20]
    there = ", ".join(near) if near else "no file with rows of numbers"
    raise KeyError(f"no file has a metric named {asked!r}; there is {there}")


def _named(asked: str, parts: Sequence[Run]) -> str:
    """The name that is that text, ends in it, or stands in that column of the longest file; '' for none."""
    names = list(dict.fromkeys(name for p in parts for name in p.curves))
    same = [n for n in names if n == asked] or [n for n in names if n.endswith(f"/{asked}")]
    same = same or [n for n in names if n.lower() == asked.lower() or n.lower().endswith(f"/{asked.lower()}")]
    if same or not (number := _COLUMN.fullmatch(asked)) or not parts:
        return same[0] if same else ""
    at = int(number[1]) - 1  # people count from one, and mostly the first column is the count
    longest = max(parts, key=lambda p: max((c.step.size for c in p.curves.values()), default=0))
    columns = [*([""] if longest.axis == "step" else []), *longest.curves]
    return f"c{at}" if f"c{at}" in names else columns[at] if 0 <= at < len(columns) else ""


def _roles_near(asked: str) -> list[str]:
    """The metrics of ours that somebody may have meant, by their names and by the words that explain them."""
    plain = re.sub(r"[^a-z0-9]+", " ", asked.lower()).strip()
    stems = [word[:-1] if word.endswith("s") and len(word) > 3 else word for word in plain.split()]
    told = [name for name, m in METRICS.items() if any(re.search(rf"\b{re.escape(stem)}", f"{name} {m.meaning}".lower()) for stem in stems)]
    alike = difflib.get_close_matches(asked, METRICS, n=4, cutoff=0.4)
    first = [name for name in _USUAL if name in told]
    return list(dict.fromkeys([*first, *alike, *told]))[:6] or list(_USUAL)
