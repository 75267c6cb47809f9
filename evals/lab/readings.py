"""Blind readings of the corpora, kept as data: how far two readers agree, where they do not, and what became of each such label.

A folder of readings holds ``<reader>.<corpus>.jsonl`` with answers to exported packs by run and cut, ``about.json`` with who read and
how, and ``looked.json`` with what a second look at each disagreement found.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson
from evals.lab.agreement import ASKED, agree
from evals.lab.table import compare_answers, scores, span, text_table
from rl_advisor.evals.answers import Answer, read_answers
from rl_advisor.evals.corpus import Corpus, read_corpus

_COLUMNS = ("verdict_hit", "link_hit", "healthy_called_broken", "checkpoint_regret")
_CALLS = ("checkpoint_regret", "balanced_accuracy", "auroc", "brier")
_HEAD = """# Two readers of the same runs

Made by `make eval` from `evals/readings/`; nothing but the notes on single runs is written by hand.

Each run of the development corpora was packed at one length without its label (`python -m evals.corpora export`) and read by readers who
saw the packs only. Who they are:

"""
_TABLE = """
## Beside the labels

The answers of both, scored on the same packs. The rules of the built-in advisor were written while looking at these runs, the other
reader had never seen them: this compares readers with labels, and is no contest between the readers. Six labels were widened after the
readings, which makes hits of both a little easier.

"""


def files(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of answers by reader and corpus."""
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob("*.*.jsonl")):
        reader, corpus, _ = path.name.split(".")
        found.setdefault(reader, {})[corpus] = path
    return found


def compare(folder: Path, corpora: Path) -> dict[str, Any]:
    """``{about, looked, pairs, labels, missing}``: agreement of every two readers, their scores by corpus, and what nobody looked at."""
    read = files(folder)
    about, looked = (orjson.loads((folder / f"{name}.json").read_bytes()) for name in ("about", "looked"))
    every = {name: {k: a for path in mine.values() for k, a in read_answers(path).items()} for name, mine in read.items()}
    pairs = {f"{a} and {b}": agree(every[a], every[b]) for a, b in combinations(every, 2)}
    labeled = [read_corpus(corpora / name) for name in sorted({c for mine in read.values() for c in mine})]
    return {
        "about": about,
        "looked": looked,
        "pairs": pairs,
        "scores": {c.root.name: compare_answers(c.root, {name: mine[c.root.name] for name, mine in read.items()}) for c in labeled},
        "rows": [_row(pair, names, every, labeled) for names, found in pairs.items() for pair in found["disagreements"]],
    }


def _row(
    pair: Mapping[str, Any], names: str, every: Mapping[str, Mapping[tuple[str, float], Answer]], labeled: Sequence[Corpus]
) -> dict[str, Any]:
    """A disagreement with what the label admits; where the label of the whole run does not speak of the part, that is said."""
    about = pair["run"], pair["cut"]
    label = next(c.labels[pair["run"]] for c in labeled if pair["run"] in c.labels)
    one, other = (every[name][about] for name in names.split(" and "))
    return {
        "run": pair["run"],
        "cut": pair["cut"],
        "family": label.family,
        "said": [f"{a.verdict}, {a.link}, {a.call}" for a in (one, other)],
        "admits": f"{' or '.join(sorted(label.verdicts))}; {' or '.join(sorted(label.links)) or 'none'}",
        "speaks": label.visible_at(label.step_at(pair["cut"])),
        "asked": [what for what in ASKED if what in pair],
    }


def page(found: Mapping[str, Any]) -> str:
    """The whole page in Markdown."""
    who = "".join(f"- **{name}**: {text}\n" for name, text in found["about"].items())
    return _HEAD + who + "".join(_pair(names, pair) for names, pair in found["pairs"].items()) + _scores(found["scores"]) + _looks(found)


def _pair(names: str, found: Mapping[str, Any]) -> str:
    rows = [[what, span(found["kappa"][what], found["intervals"][what]), f"{found['agreed'][what]:.0%}"] for what in ASKED]
    return f"\n## {names}: {found['n']} runs\n\n{text_table(('asked', 'kappa', 'same answer'), rows)}\n"


def _scores(corpora: Mapping[str, Any]) -> str:
    text = _TABLE
    for name, arms in corpora.items():
        whole = scores({arm: r["cuts"]["1"] for arm, r in arms.items()}, _COLUMNS, head="reader")
        pooled = scores({arm: r["pooled"] for arm, r in arms.items()}, _CALLS, head="reader")
        text += f"{name}, {next(iter(arms.values()))['cuts']['1']['n']} whole runs\n\n{whole}\n\n"
        text += f"{name}, {next(iter(arms.values()))['pooled']['n']} prefixes\n\n{pooled}\n\n"
    return text


def _looks(found: Mapping[str, Any]) -> str:
    """Every disagreement, and what a second look at the run found."""
    lines = [
        [
            f"{row['run']} at {row['cut']:g} ({row['family']})",
            *row["said"],
            row["admits"] + ("" if row["speaks"] else " (of the whole)"),
            _look(found, row),
        ]
        for row in found["rows"]
    ]
    head = "## Every disagreement, looked at\n\nLabels as they stand after the look. "
    told = "At a cut before the fault acted, the label of the whole run does not speak of the part that was shown.\n\n"
    return head + told + text_table(("run", "first", "second", "label admits", "look"), lines) + "\n"


def _look(found: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    return str(found["looked"].get(row["run"], "**not looked at**"))
