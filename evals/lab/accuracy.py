"""Result files of whole corpora: every arm, whole and by split, with how the built-in advisor holds up when things are missing."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from evals.lab.arms import ARMS
from evals.lab.leaks import leaks_of
from evals.lab.perturb import robustness, without
from evals.lab.splits import SPLITS, of_split
from evals.lab.table import difference
from rl_advisor import __version__
from rl_advisor.evals import scoring
from rl_advisor.evals.corpus import WHOLE, Corpus, Label, read_corpus
from rl_advisor.evals.harness import CUTS, Advise, Row, judge, reader, summarize
from rl_advisor.run import Run

REFERENCE = "builtin"
BLIND = "builtin, no held-out score"
_COMPARED = ("verdict_hit", "healthy_called_broken", "checkpoint_regret", "balanced_accuracy")


def arms() -> dict[str, Advise]:
    """The built-in advisor, the same without any held-out score to look at, and every baseline (rl-doctor's own where it is installed)."""
    from rl_advisor.tools.advisors.builtin import assess

    unseen = without("eval/")
    return {REFERENCE: assess, BLIND: lambda run: assess(unseen(run)), **ARMS}


def measure(
    root: Path, chosen: Mapping[str, Advise], *, read: Callable[[Path], Run] | None = None, resamples: int = 500, flips: bool = True
) -> dict[str, Any]:
    """What a result file holds: scores of each arm, the size of each split, and the flips of the reference arm.

    The same code and corpus give the same bytes: no clock is in it.
    """
    labeled, once = read_corpus(root), cache(read or reader())
    rows = {name: judge(labeled, advise, CUTS, once) for name, advise in chosen.items()}
    splits = {s: kept for s in SPLITS if (kept := of_split(labeled.labels.values(), s))}
    about = orjson.loads((root / "about.json").read_bytes()) if (root / "about.json").is_file() else {}
    return {
        "schema": "rl-advisor/accuracy/1",
        "corpus": root.name,
        "title": about.get("title", root.name),
        "role": about.get("role", "test"),
        "warning": about.get("warning", ""),
        "leaks": sorted(leaks_of(labeled, CUTS, once)),
        "all": _part(labeled, rows, list(labeled.labels.values()), resamples),
        "splits": {s: _size(kept) for s, kept in splits.items()},
        "robustness": robustness(root, chosen[REFERENCE], read=once, resamples=resamples) if flips else {},
    }


def _part(labeled: Corpus, rows: Mapping[str, Sequence[Row]], kept: Sequence[Label], resamples: int) -> dict[str, Any]:
    """The scores on some of the runs."""
    names = {label.run for label in kept}
    corpus = Corpus(labeled.root, {run: label for run, label in labeled.labels.items() if run in names})
    mine = {name: [r for r in scored if r.label.run in names] for name, scored in rows.items()}
    return {
        **_size(kept),
        "arms": {name: _scores(corpus, scored, mine[REFERENCE], resamples) for name, scored in mine.items()},
    }


def _size(kept: Sequence[Label]) -> dict[str, int]:
    return {"runs": len(kept), "families": len({label.family for label in kept}), "healthy": sum(label.healthy for label in kept)}


def _scores(corpus: Corpus, rows: Sequence[Row], reference: Sequence[Row], resamples: int) -> dict[str, Any]:
    found = summarize(corpus, rows, rows=False, resamples=resamples)
    kept = {"whole": found["cuts"]["1"], "pooled": found["pooled"]} | _by_answer(rows)
    against = {} if rows is reference else {"against_builtin": _against(rows, reference, resamples)}
    return {name: rounded(value) for name, value in (kept | against).items()}


def _by_answer(rows: Sequence[Row]) -> dict[str, Any]:
    """Of whole runs, per verdict how often it was the truth, was said, and was said rightly, and what was said instead; the mean cost."""
    whole = [r for r in rows if r.cut == WHOLE]
    counts = scoring.class_counts([r.answer.verdict for r in whole], [r.label.verdicts for r in whole])
    return {
        "by_class": {c or "no answer": dict(zip(("truth", "said", "right"), told, strict=True)) for c, told in counts.items()},
        "confusion": {said: confusion(whole, said) for said in ("verdict", "link")},
        "cost": cost(rows),
    }


def cost(rows: Sequence[Row]) -> dict[str, float]:
    """Mean tokens and money an answer, over the answers that carry them."""
    known = {name: [v for r in rows if (v := getattr(r.answer, name)) is not None] for name in ("tokens", "money")}
    return {name: float(np.mean(values)) for name, values in known.items() if values}


def confusion(rows: Sequence[Row], said: str) -> dict[str, dict[str, int]]:
    """Answers counted under each truth; an admitted answer is its own truth, a miss stands under the whole set."""
    table: dict[str, Counter[str]] = {}
    for row in rows:
        answer, truth = getattr(row.answer, said), getattr(row.label, f"{said}s") or frozenset({"none"})
        table.setdefault(answer if answer in truth else "|".join(sorted(truth)), Counter())[answer or "no answer"] += 1
    return {truth: dict(sorted(counts.items())) for truth, counts in sorted(table.items())}


def _against(rows: Sequence[Row], reference: Sequence[Row], resamples: int) -> dict[str, list[float]]:
    """Paired differences to the reference: whole runs, and prefixes for the call."""
    found = {}
    for name in _COMPARED:
        ours, theirs = ([r for r in side if (r.cut < WHOLE) is (name == "balanced_accuracy")] for side in (rows, reference))
        found[name] = list(difference(name, ours, theirs, resamples))
    return found


def rounded(value: Any) -> Any:
    """The same data with four decimals, and None for what is not defined: result files are read by people and compared."""
    if isinstance(value, Mapping):
        return {key: rounded(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(v) for v in value]
    if isinstance(value, float):
        return None if np.isnan(value) else round(value, 4) + 0.0
    return value


def write_results(result: Mapping[str, Any], folder: Path) -> Path:
    """Writes one result file, named after its corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result['corpus']}.json"
    path.write_bytes(orjson.dumps(rounded(result)) + b"\n")
    return path


def first_look(root: Path, chosen: Mapping[str, Advise], folder: Path) -> Path:
    """Scores a corpus for the first time and keeps the result beside the code that was scored, so that no later run replaces it.

    Raises:
        FileExistsError: it was scored before.

    """
    path = folder / f"{root.name}.json"
    if path.exists():
        raise FileExistsError(f"{path} exists: the first look was taken, and there is no second one")
    found = measure(root, chosen, flips=False) | {
        "version": __version__,
        "code": code_digest(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    return write_results(found, folder)


def code_digest() -> str:
    """A short hash over the package's own sources: which judgement was scored."""
    room = Path(__file__).parents[2] / "rl_advisor"
    sources = (p for p in sorted(room.rglob("*")) if p.suffix in (".py", ".json") and "__pycache__" not in p.parts)
    return sha256(b"".join(p.relative_to(room).as_posix().encode() + p.read_bytes() for p in sources)).hexdigest()[:12]


def read_first(folder: Path) -> dict[str, dict[str, Any]]:
    """First looks by corpus; empty when none was taken."""
    return {path.stem: orjson.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The results of a folder, those for development first.

    Raises:
        FileNotFoundError: there is none.

    """
    found = [orjson.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise FileNotFoundError(f"no result files in {folder}; name corpora to measure them")
    return sorted(found, key=lambda r: r["role"] != "development")
