"""The same rows wherever the work is done: processes, a local Ray; its library is an extra, so this runs where it is."""

import importlib.util
from pathlib import Path

import pytest
from rl_advisor.tools.triage import How, Store, triage

from small_runs import CURVES, written


@pytest.mark.filterwarnings("ignore")
def test_every_engine_gives_the_same_rows(tmp_path: Path) -> None:
    """Sixty runs, each result the same to the last bit."""
    for number in range(20):
        for name in CURVES:
            written(tmp_path / "sweep" / f"{name}-{number:02}", name, learning_rate=10.0 ** -(1 + number % 4), seed=number)
    if importlib.util.find_spec("ray") is None:
        pytest.skip("ray is not installed")
    answers = {}
    for engine in ("processes", "ray"):
        with Store(None) as store:
            rows = triage([str(tmp_path / "sweep")], How(engine=engine, jobs=2), store)
        answers[engine] = {row["run"]: {k: v for k, v in row.items() if k != "age_s"} for row in rows}
    assert len(answers["processes"]) == 60
    assert not [row["error"] for row in answers["processes"].values() if row["error"]]
    assert answers["ray"] == answers["processes"]


def test_one_process_and_two_give_the_same_rows(tmp_path: Path) -> None:
    """What is needed to check this is always there: who judged a run, and in which order, is not seen in its row."""
    for number in range(2):
        for name in CURVES:
            written(tmp_path / "sweep" / f"{name}-{number}", name, learning_rate=0.01, seed=number)
    answers = []
    for jobs in (1, 2):
        with Store(None) as store:
            rows = triage([str(tmp_path / "sweep")], How(jobs=jobs), store)
        answers.append({row["run"]: {k: v for k, v in row.items() if k != "age_s"} for row in rows})
    assert len(answers[0]) == 2 * len(CURVES)
    assert not [row["error"] for row in answers[0].values() if row["error"]]
    assert answers[0] == answers[1]
