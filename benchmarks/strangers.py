"""What is read of real runs of strangers, against what people read in them: ``python benchmarks/strangers.py FOLDER [--misses]``.

``FOLDER`` holds labels (``labels*.jsonl``: id, path, outcome names, last step) beside the runs; it is no part of the project. One
repository is one vote. A run without an outcome in its files, of supervised training or that never began must get none.
"""

import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.assembling import SPEAKS
from rl_advisor.vocabulary import words

NONE = ("NOT_RL", "CRASHED_NO_DATA", "CRASHED")
OTHERS = {"preference": "^pairs/|[Ll]oss", "sft": "[Ll]oss"}
"""What tells how well training does that is not by reward."""


def labels(folder: Path) -> list[dict[str, Any]]:
    """All labels of the folder."""
    return [json.loads(line) for file in sorted(folder.glob("labels*.jsonl")) for line in file.read_text().splitlines() if line]


def has_outcome(label: dict[str, Any]) -> bool:
    """Whether the files of a run hold an outcome, by its label."""
    none = re.match(r"no outcome|none|loss only", label.get("outcome_kind") or "") or re.search(r"(?i)^not rl", label.get("why", ""))
    return label.get("label") not in NONE and label.get("outcome") != [] and not none


def looked_at(folder: Path, label: dict[str, Any]) -> dict[str, Any]:
    """What was read: whether anything, the outcome's raw names, whether the label names one, whether the last step is the label's."""
    try:
        run = read_run(folder / label["path"])
    except (UnreadableRun, FileNotFoundError) as refusal:
        return {"read": False, "why": str(refusal)[:160]}
    of_its_kind = OTHERS.get(label.get("family", ""), "(?!)")
    raw = [c.raw for n, c in run.curves.items() if n.startswith(SPEAKS) or re.search(of_its_kind, n)]
    wanted = [words(name) for name in label.get("outcome") or ()]
    named = any(w and (w in words(r) or words(r) in w) for w in wanted for r in raw) if wanted else bool(raw)
    last = label.get("last_step")
    return {"read": True, "outcome": raw, "named": named, "last": last is None or abs(run.last_step - last) <= max(1.01, 0.02 * abs(last))}


def main(folder: Path, misses: bool) -> None:
    """Print the shares, and with ``misses`` each run that gives no outcome."""
    began, votes, rows = time.process_time(), defaultdict(list), []
    for label in labels(folder):
        found = looked_at(folder, label)
        rows.append((label, found))
        if has_outcome(label):
            votes[label["path"].split("/")[1]].append(bool(found.get("outcome")))
    some = [found for label, found in rows if has_outcome(label)]
    none = [found for label, found in rows if not has_outcome(label)]
    given, named, last = (sum(bool(f.get(key)) for f in some) for key in ("outcome", "named", "last"))
    shares = [sum(vote) / len(vote) for vote in votes.values()]
    wrong = sum(bool(found.get("outcome")) for found in none)
    print(f"{len(rows)} runs, {len(some)} with an outcome: one is found in {given} ({given / len(some):.3f}),")
    print(f"by a name of the label in {named}; mean over {len(votes)} repositories {sum(shares) / len(shares):.3f}")
    print(f"last step as labelled in {last}; {len(none)} runs without an outcome, of which {wrong} get one")
    print(f"{time.process_time() - began:.0f} s of processor")
    for label, found in rows if misses else ():
        if has_outcome(label) != bool(found.get("outcome")):
            print(f"  {label['id']}  {label['path']}  {found.get('outcome') or found.get('why', 'no outcome')}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--misses" in sys.argv)
