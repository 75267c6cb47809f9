"""The GPU's sentence comes first, in words and units that people read, and reaches the judgement where it matters."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.answers.gpu_profile import says
from rl_advisor.answers.reports import html, markdown
from rl_advisor.api import assess
from rl_advisor.cli.commands import main
from rl_advisor.output.wording import seconds_of
from rl_advisor.reading import read_run

NOTHING = "Nothing to read: there are no GPU readings and no timers of phases. Record them: `rl-advisor record --out RUN/gpu.csv`."
HERE, AFTER = "inside the step", "after the step before ended"


def profile(idle: str = HERE, **shares: float) -> dict:
    """A profile with these shares of a step of ten seconds, and idle stretches at that place."""
    phases = [{"name": n, "share": s, "seconds_per_step": 10 * s} for n, s in shares.items()]
    stretches = [{"start": 1.0, "seconds": 4.0, "where": idle}] if idle else []
    return {"gpus": 1, "phases": phases, "step_period_s": 10.0, "idle": stretches, "interference": []}


@pytest.mark.parametrize(
    ("found", "first", "never"),
    [
        (
            profile(generation=0.19, training=0.05, waiting=0.76),
            "GPU idle 76 % of each step (7.6 s of 10 s), most likely waiting",
            "bottleneck",
        ),
        (
            profile(AFTER, generation=0.5, training=0.2, waiting=0.3),
            "GPU idle 30 % of each step (3 s of 10 s), right after steps end",
            "reward",
        ),
        (
            profile("", generation=0.1, training=0.1, waiting=0.8),
            "GPU idle 80 % of each step (8 s of 10 s), waiting for the reward or data",
            "",
        ),
        (
            profile("", generation=0.9, training=0.08, waiting=0.02),
            "Generation 90 % and training 8 % of a step: generation is",
            "idle",
        ),
        (profile("", generation=0.56, training=0.44), "Generation 56 % and training 44 % of a step: neither", "idle"),
        ({"gpus": 0, "phases": [], "interference": [], "idle": [], "step_period_s": None}, NOTHING, "0 GPU"),
        ({"gpus": 2, "phases": [], "interference": [], "idle": [], "step_period_s": None}, "The readings are there", ""),
    ],
)
def test_the_point_comes_first(found: dict, first: str, never: str) -> None:
    said = says(found)
    assert said.startswith(first)
    assert not never or never not in said


def test_another_process_is_told_with_what_it_did() -> None:
    event = {"start": 0.0, "end": 11.0, "excess_gib": 5.66, "step_s": {"before": 2.0, "during": 2.11, "after": 2.0}}
    said = says(profile("", generation=0.6, training=0.4) | {"interference": [event]})
    assert "For 11 s 5.7 GiB more were in use" in said
    assert "steps took 2.11 s meanwhile, 2 s before" in said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.05, "50 ms"), (4.04, "4.04 s"), (119, "119 s"), (180, "3.0 min"), (9000, "2.5 h"), (200000, "2.3 d")]
)
def test_times_are_read_in_their_unit(seconds: float, said: str) -> None:
    assert seconds_of(seconds) == said


def _run(folder: Path, reward_s: float) -> Path:
    """A verl run that learns, with timers: ten seconds of generation, eight of training, and the reward."""
    draw = np.random.default_rng(1)
    rows = [
        {
            "step": s,
            "critic/rewards/mean": 0.2 + 0.4 * s / 120 + draw.normal(0, 0.01),
            **({"val-core/x/acc/mean@1": 0.3 + 0.3 * s / 120 + draw.normal(0, 0.01)} if s % 5 == 0 else {}),
            "timing_s/gen": 10.0,
            "timing_s/update_actor": 8.0,
            "timing_s/reward": reward_s,
            "timing_s/step": 18.2 + reward_s,
        }
        for s in range(1, 121)
    ]
    (folder / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.mark.parametrize(("reward_s", "matters"), [(60.0, True), (1.0, False)])
def test_idle_time_reaches_summary_and_next_step(tmp_path: Path, reward_s: float, matters: bool) -> None:
    """A run that learns and waits three quarters of its time hears of that first; one that does not wait hears nothing of it."""
    a = assess(read_run(_run(tmp_path, reward_s)))
    assert a.next_experiment.do.startswith("GPU idle 7") == matters
    assert ("GPU idle" in a.summary) == matters
    assert (a.verdict, a.first_broken_link) == ("improving", "none")
    for page in (html, markdown):
        assert ("GPU idle 7" in page.render(read_run(tmp_path), a)) == matters


def test_nothing_to_read_has_an_exit_code(tmp_path: Path) -> None:
    """A run without readings and timers says so in a line, with exit code 3 and whole JSON."""
    (tmp_path / "metrics.jsonl").write_text("\n".join(json.dumps({"step": i, "reward": i / 9}) for i in range(9)))
    told = CliRunner().invoke(main, ["gpu", str(tmp_path)])
    assert (told.exit_code, told.stdout.split(":")[0]) == (3, "Nothing to read")
    told = CliRunner().invoke(main, ["gpu", str(tmp_path), "--json"])
    assert (told.exit_code, json.loads(told.stdout)["says"]) == (3, NOTHING)
