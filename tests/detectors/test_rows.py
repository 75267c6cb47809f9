"""Patterns that are data: each row speaks on its own example, is silent on its near-miss, and a row that asks for nonsense is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rl_advisor
from evals.drawn import make_run, noise
from rl_advisor.detectors import graph, patterns, rows
from rl_advisor.finding import Outcome
from rl_advisor.judgement.diagnosis import diagnose, run_detector
from rl_advisor.judgement.proofs import proofs
from rl_advisor.judgement.proven import normal
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.settings.conditions import View, condition
from rl_advisor.settings.given import Settings
from rl_advisor.settings.of_run import OF_RUN
from rl_advisor.settings.of_samples import OF_SAMPLES
from rl_advisor.settings.statistics import OF_COURSE, OF_STRETCH, OF_VALUES

POINTS = 60


def passing(levels: dict[str, list[float]]) -> Run:
    """A run whose curves pass through these levels at equal distances."""
    line = np.linspace(0, 1, POINTS)
    return make_run(
        {name: np.interp(line, np.linspace(0, 1, len(to)), to) + noise(POINTS, 0.002 * max(map(abs, to))) for name, to in levels.items()}
    )


@pytest.mark.parametrize("name", [name for name, row in rows().items() if "fires" in row])
def test_a_row_speaks_on_its_example_and_not_near_it(name: str) -> None:
    """Present where the row says that it fires, with numbers in the sentence; absent where it says that it rests."""
    row, detector = rows()[name], patterns()[name]
    fired, rested = (run_detector(detector, replace(passing(row[key]), config=row.get("config", {}))) for key in ("fires", "rests"))
    assert (fired.outcome, rested.outcome) == (Outcome.PRESENT, Outcome.ABSENT), (fired.statement, rested.statement)
    assert "{" not in fired.statement
    assert fired.measures


def test_a_condition_that_asks_for_nothing_known_is_refused() -> None:
    """A statistic that does not exist, or a half sentence, is an error where it is written, not a silent row."""
    for text in ("mode kl/ref > 1", "end kl/ref >", "end kl/ref > 1 mode entropy/mean"):
        with pytest.raises(ValueError, match="no condition"):
            condition(text)


def test_a_plug_that_raises_is_said_and_takes_nothing_with_it(monkeypatch) -> None:
    """A detector, a check and a proof that fail say so under their name; a setting that no table names is looked for by its own."""

    def broken(*_: object) -> None:
        raise KeyError("nobody")

    failed = run_detector(replace(patterns()["collapse"], detect=broken), passing({"reward/mean": [0, 1]}))
    assert (failed.pattern, failed.outcome) == ("collapse", Outcome.UNCLEAR)
    assert "KeyError" in failed.statement
    name, first = next(iter(checks.registered().items()))
    monkeypatch.setitem(checks.registered(), name, {k: v for k, v in first.items() if k != "keys"})
    said = {o.pattern: o for o in checks.run(Run(config={"nobody_names_this": 3}))}
    assert "KeyError" in said[name].statement
    assert Settings(Run(config={"nobody_names_this": 3})).number("nobody_names_this") == 3
    run = passing({"reward/mean": [0, 1]})
    monkeypatch.setattr(View, "answer", broken)
    proved = proofs(run)
    assert proved
    assert all(f.outcome is Outcome.UNCLEAR and "KeyError" in f.statement for f in proved)
    assert normal(run) == []


def test_training_without_reward_is_asked_what_fits_it() -> None:
    """Of pairs nothing is asked that only a reward can show, and of a reward nothing that only pairs can."""
    pairs = {f.pattern for f in diagnose(passing(rows()["likelihood_displacement"]["fires"] | {"pairs/logp_chosen": [-90, -100]}))}
    reward = {f.pattern for f in diagnose(passing({"reward/mean": [0, 1]}))}
    assert {"likelihood_displacement", "non_finite", "learning_rate_jump"} <= pairs
    assert not {"reward_never_paid", "zero_variance_groups", "entropy_collapse"} & pairs
    assert "zero_variance_groups" in reward
    assert not {"likelihood_displacement", "pairs_memorised"} & reward


def test_the_graph_of_causes_names_patterns_that_exist() -> None:
    """No edge from or to a pattern that is gone."""
    assert set(graph()) <= set(patterns())


def test_a_statistic_has_one_meaning() -> None:
    """What is asked of the run, of a curve's values, of its stretches and of its course never shares a name."""
    names = [name for table in (OF_RUN, OF_VALUES, OF_STRETCH, OF_COURSE) for name in table if name not in OF_SAMPLES or table is OF_RUN]
    assert len(names) == len(set(names))
    assert not OF_RUN.keys() & OF_SAMPLES.keys()


def test_every_row_has_an_example_in_a_file_of_tests() -> None:
    """A row without an example of its own is shown by a run in some test of detectors, of samples or of the machine."""
    tests = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parents[1].rglob("test_*.py")))
    assert [name for name in patterns() if "fires" not in rows().get(name, ()) and f'"{name}"' not in tests] == []


OTHERS = {"non_finite", "out_of_memory", "no_gain", "truncation", "answers_alike", "learned_by_heart"}
"""Names that stand for something else, too: an event of a log, why a run is called, a likely cause, a procedure."""


def test_a_pattern_is_spelled_where_it_is_defined_and_nowhere_else() -> None:
    """What others need to know of a pattern is a mark that it bears; its plain words alone stand in the table of words."""
    package = Path(rl_advisor.__file__).parent
    names = "|".join(sorted(patterns().keys() - OTHERS))
    spelled = re.compile(rf"[\"'](?:{names})[\"']|^\[?(?:{names})\]? ?(?:=|$)", re.MULTILINE)
    files = [p for p in package.rglob("*") if p.suffix in (".py", ".toml") and p.parent.name != "detectors" and p.name != "words.toml"]
    assert {str(p.relative_to(package)): found[0] for p in files if (found := spelled.search(p.read_text(encoding="utf-8")))} == {}
