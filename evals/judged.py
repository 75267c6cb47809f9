"""What the judge says of labelled runs of strangers, read once and kept: ``python -m evals.judged FOLDER [--cache DIR] [--misses]``.

A run that is refused counts as one that was called undecidable. Two readers' labels are taken together: a verdict is admissible that either
would defend. Every repository has one vote. ``--cache`` keeps each run and its findings at its end and at half of its steps, so that a
change of curves or of the weighing is measured in a minute; empty it when readers or detectors change.
"""

import argparse
import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from evals.contradictions import contradictions
from evals.fit_going_on import reached
from rl_advisor import tools
from rl_advisor.finding import BROKEN, VERDICTS, Assessment
from rl_advisor.judgement.case import Case, case_of, open_case
from rl_advisor.reading import UnreadableRun
from rl_advisor.tools.advisors.builtin import of_case

COARSE = {"improving": "sound", "plateaued": "sound", "not_learning": "stuck", "undecidable": "stuck"}
CUTS = (1.0, 0.5)


@dataclass(frozen=True)
class Read:
    """A run as two readers labelled it."""

    id: str
    path: Path
    kin: str
    family: str
    own: tuple[str, ...]
    """Both readers' verdicts, the first reader's first."""
    admitted: frozenset[str]
    links: frozenset[str]
    calls: tuple[frozenset[str], frozenset[str]]
    """What the readers call at the end and at half."""


def readings(folder: Path) -> Iterator[Read]:
    """Every labelled run of a folder."""
    second = {row["id"]: row for row in _rows(folder / "readings.jsonl")}
    for file in sorted(folder.glob("labels-*.jsonl")):
        for row in _rows(file):
            other = second.get(row["id"], {})
            both = (row, other)
            calls = tuple(frozenset(str(r[k]) for r, k in zip(both, keys, strict=True) if k in r) for keys in CALLS)
            yield Read(
                row["id"],
                folder / row["path"],
                "/".join(row["path"].split("/")[:2]),
                row["family"],
                tuple(r["verdict"] for r in both if "verdict" in r),
                frozenset(v for r in both for v in (r.get("verdict"), *r.get("admissible", ())) if v in VERDICTS),
                frozenset(x for r in both for x in r.get("links", ())),
                (calls[0], calls[1]),
            )


CALLS = (("end_call", "call"), ("half_call", "half_call"))


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()] if file.exists() else []


def cases(read: Read, cache: Path | None) -> tuple[Case | None, Case | None]:
    """The opened cases of a run at its end and at half; None where it is refused."""
    kept = cache / f"{read.id}.pickle" if cache else None
    if kept is not None and kept.exists():
        parts = pickle.loads(kept.read_bytes())  # noqa: S301 - written by the lines below
    else:
        try:
            run = tools.read(read.path)
            opened = [open_case(run.until(reached(run, cut))) for cut in CUTS]
            parts = tuple((case.run, case.findings) for case in opened)
        except (UnreadableRun, OSError, ValueError):
            parts = (None, None)
        if kept is not None:
            kept.write_bytes(pickle.dumps(parts))
    end, half = (case_of(*part) if part is not None else None for part in parts)
    return end, half


def balanced(said: Sequence[str], wanted: Sequence[frozenset[str]]) -> float:
    """Mean of the shares right among runs that both readers would continue, and among those that both would stop."""
    shares = []
    for call in ("continue", "stop"):
        hits = [s == call for s, w in zip(said, wanted, strict=True) if w == {call}]
        shares.append(float(np.mean(hits)) if hits else float("nan"))
    return float(np.mean(shares))


def by_kin(reads: Sequence[Read], hits: Sequence[bool]) -> float:
    """The mean over repositories of the mean inside each."""
    votes: dict[str, list[bool]] = defaultdict(list)
    for read, hit in zip(reads, hits, strict=True):
        votes[read.kin].append(hit)
    return float(np.mean([np.mean(v) for v in votes.values()])) if votes else float("nan")


def scores(reads: Sequence[Read], said: Sequence[tuple[Assessment | None, Assessment | None]]) -> dict[str, float]:
    """Every figure of these runs."""
    verdicts = [a.verdict if a else "undecidable" for a, _ in said]
    pairs = list(zip(reads, verdicts, strict=True))
    coarse = {v: COARSE.get(v, "broken") for v in VERDICTS}
    sound = [i for i, (r, _) in enumerate(pairs) if set(r.own) <= {"improving", "plateaued"}]
    broken = BROKEN - {"not_learning"}
    return {
        "refused": sum(a is None for a, _ in said),
        "admissible": by_kin(reads, [v in r.admitted for r, v in pairs]),
        "of read": by_kin(*_kept([(r, v in r.admitted, a) for (r, v), (a, _) in zip(pairs, said, strict=True)])),
        "exact": by_kin(reads, [v == r.own[0] for r, v in pairs]),
        "or second": by_kin(reads, [v in r.own for r, v in pairs]),
        "coarse": by_kin(reads, [coarse[v] in {coarse.get(o, "stuck") for o in r.own} for r, v in pairs]),
        "false alarms": by_kin([reads[i] for i in sound], [verdicts[i] in broken and verdicts[i] not in reads[i].admitted for i in sound]),
        "link": by_kin(reads, [(a.first_broken_link if a else "none") in r.links for r, (a, _) in zip(reads, said, strict=True)]),
        "end call": balanced([a.call if a else "undecided" for a, _ in said], [r.calls[0] for r in reads]),
        "half call": balanced([h.call if h else "undecided" for _, h in said], [r.calls[1] for r in reads]),
    }


def _kept(rows: Sequence[tuple[Read, bool, Assessment | None]]) -> tuple[list[Read], list[bool]]:
    return [r for r, _, a in rows if a is not None], [hit for _, hit, a in rows if a is not None]


def main() -> None:
    """Print the figures of each set and kind, and the contradictions by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--misses", action="store_true")
    asked = parser.parse_args()
    reads = list(readings(asked.folder))
    said, denied = [], Counter[str]()
    examples: dict[str, list[str]] = defaultdict(list)
    for read in reads:
        opened = cases(read, asked.cache)
        both = tuple(of_case(case) if case is not None else None for case in opened)
        for case, a in zip(opened, both, strict=True):
            for kind, says in contradictions(case.run, a) if case is not None and a is not None else ():
                denied[kind] += 1
                examples[kind].append(f"{read.id}: {says}")
        said.append(both)
    sets: Mapping[str, Callable[[Read], bool]] = {
        "all": lambda _: True,
        **{name: (lambda r, n=name: r.path.relative_to(asked.folder).parts[0] == n) for name in ("first", "second", "third", "fourth")},
        **{name: (lambda r, n=name: r.family == n) for name in sorted({r.family for r in reads})},
    }
    for name, keep in sets.items():
        chosen = [i for i, r in enumerate(reads) if keep(r)]
        told = scores([reads[i] for i in chosen], [said[i] for i in chosen])
        print(f"{name:14} {len(chosen):4}", " ".join(f"{k} {v:.3g}" for k, v in told.items()))
    print(f"contradictions {sum(denied.values())} in {sum(a is not None for pair in said for a in pair)} answers")
    for kind, many in denied.most_common():
        print(f"  {many:4} {kind}")
        for line in examples[kind][: 400 if asked.misses else 3]:
            print(f"         {line[:260]}")
    if asked.misses:
        for read, (a, _) in zip(reads, said, strict=True):
            if (a.verdict if a else "undecidable") not in read.admitted:
                told = f"{a.verdict} {a.probabilities.get(a.verdict, 0):.2f} | {a.why}" if a else "refused"
                print(f"MISS {read.id} [{'/'.join(read.own)}; {','.join(sorted(read.admitted))}] {told}"[:400])


if __name__ == "__main__":
    main()
