"""The table of systems, from files of answers alone."""

from pathlib import Path

import orjson
import pytest
from rl_advisor.evals.corpus import read_corpus

from evals import benchmark

CORPUS = Path("evals/corpus/second")


def test_whoever_brings_answers_stands_in_the_table(tmp_path: Path) -> None:
    """One that says an admitted verdict of every run, and one that says nothing."""
    labels = read_corpus(CORPUS).labels.values()
    told = {"knows": [{"verdict": min(label.verdicts)} for label in labels], "silent": [{} for _ in labels]}
    for system, answers in told.items():
        (tmp_path / system).mkdir()
        lines = [
            orjson.dumps({"run": label.run, "cut": cut} | a) for label, a in zip(labels, answers, strict=True) for cut in benchmark.CUTS
        ]
        (tmp_path / system / "second.jsonl").write_bytes(b"\n".join(lines))
    rows = {line.split("|")[1].strip(): line.split("|")[2].strip() for line in benchmark.table([CORPUS], tmp_path).splitlines()}
    assert rows["knows"] == "1.00"
    assert rows["silent"] == "0.00"


@pytest.mark.parametrize("system", sorted(benchmark.SYSTEMS))
def test_every_system_of_ours_stands_on_the_page(system: str) -> None:
    """The page was made with the systems that the program has."""
    assert f"| {system} |" in Path("docs/benchmark.md").read_text(encoding="utf-8")
