"""How another system enters: ``python -m evals.benchmark CORPUS... [--answers FOLDER] [--write PAGE]``.

Every system answers what the labels ask, in files that ``rl-advisor eval CORPUS --answers FILE`` scores like anybody's; the table is made
of those scores alone, and a corpus counts by its runs. What stands in the folder already, ``SYSTEM/CORPUS.jsonl``, is scored as it is: so
others enter, and so do answers of a model that were recorded.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from evals.lab.arms import ARMS, Arm
from evals.lab.table import text_table
from rl_advisor.api import assess
from rl_advisor.evals.blind import blind
from rl_advisor.evals.corpus import WHOLE, read_corpus
from rl_advisor.evals.harness import reader, score_answers

CUTS = (0.5, WHOLE)
SYSTEMS: dict[str, Arm] = {
    "built-in": lambda run: assess(run).model_dump(mode="json"),
    "patience": ARMS["patience_20"],
    "trend-test": ARMS["trend_test"],
    "fixed-thresholds": ARMS["rldoctor_like"],
    "always-go-on": ARMS["always_continue"],
}
COLUMNS = {
    "verdict": ("1", "verdict_hit"),
    "cause": ("1", "link_hit"),
    "false alarms": ("1", "healthy_called_broken"),
    "checkpoint regret": ("1", "checkpoint_regret"),
    "go on or stop, at half": ("0.5", "balanced_accuracy"),
}
"""What the table tells, and where a score of it stands."""
MARKS = "<!-- table -->", "<!-- end of table -->"


def answered(corpus: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every system's answer to every run of a corpus, at half and whole, from blind views of it."""
    read, labelled = reader(), read_corpus(corpus)
    for label in labelled.labels.values():
        run = read(labelled.folder(label.run))
        for cut in CUTS:
            view = blind(run, label.step_at(cut), whole=cut == WHOLE)
            for name, system in SYSTEMS.items():
                yield name, system(view) | {"run": label.run, "cut": cut}


def write(corpora: Sequence[Path], folder: Path) -> None:
    """The files of answers of our systems, ``SYSTEM/CORPUS.jsonl``."""
    for corpus in corpora:
        lines: dict[str, list[bytes]] = {name: [] for name in SYSTEMS}
        for name, answer in answered(corpus):
            lines[name].append(orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY))
        for name, rows in lines.items():
            file = folder / name / f"{corpus.name}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"\n".join(rows) + b"\n")


def table(corpora: Sequence[Path], folder: Path) -> str:
    """A row a system, whoever made its files."""
    rows = []
    for system in sorted(d for d in folder.iterdir() if d.is_dir()):
        scored = [score_answers(corpus, system / f"{corpus.name}.jsonl", resamples=2)["cuts"] for corpus in corpora]
        rows.append([system.name, *(_mean([(s[cut][name], s[cut]["counts"][name]) for s in scored]) for cut, name in COLUMNS.values())])
    return text_table(("system", *COLUMNS), rows)


def _mean(scores: Sequence[tuple[float | None, int]]) -> str:
    known = [(value, n) for value, n in scores if value is not None and n]
    return f"{np.average([v for v, _ in known], weights=[n for _, n in known]):.2f}" if known else ""


def main() -> None:
    """Prints the table, or puts it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--answers", type=Path, help="folder of files of answers; made where a system of ours has none")
    parser.add_argument("--write", type=Path, help="page with the marks of the table")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.answers or Path(scratch)
        if not (folder / next(iter(SYSTEMS))).exists():
            write(asked.corpora, folder)
        told = table(asked.corpora, folder)
    print(told)
    if asked.write:
        before, _, rest = asked.write.read_text(encoding="utf-8").partition(MARKS[0])
        asked.write.write_text(f"{before}{MARKS[0]}\n{told}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
