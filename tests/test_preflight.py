"""Before training: a reward that tells nothing apart, histograms of five shapes, and a plan that says too little are found."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.answers.preflight import before, histogram, preflight, returns, setup_of
from rl_advisor.cli.commands import main
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run

DRAWN = np.random.default_rng(5)
LOW, HIGH = DRAWN.normal(0, 1, 40), DRAWN.normal(3, 1, 40)


@pytest.mark.parametrize(
    ("random", "scripted", "apart", "says"),
    [
        (LOW, HIGH, True, "tells them apart"),
        (HIGH, LOW, False, "check the sign"),
        (LOW, DRAWN.normal(0, 1, 40), False, "does not tell"),
        (np.linspace(-500, -470, 900), np.linspace(-497, -467, 900), False, "hardly more"),
        (DRAWN.normal(-487, 16, 200), DRAWN.normal(-476, 16, 200), False, "hardly more"),
        (LOW[:3], HIGH, None, "At least"),
    ],
    ids=["better", "reversed", "alike", "hardly", "of five hundred", "few"],
)
def test_the_scripted_policy_against_chance(random, scripted, apart, says) -> None:
    answer = preflight(random, scripted, Run())
    assert answer["episodes"]["tells_apart"] is apart
    assert says in answer["episodes"]["says"]
    assert answer["ready"] == (apart is not False)


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (np.ones(50), "all_alike"),
        (np.r_[np.zeros(97), np.ones(3)], "almost_all_low"),
        (np.r_[np.zeros(3), np.ones(97)], "almost_all_high"),
        (np.r_[DRAWN.normal(0, 1, 99), 900.0], "long_tail"),
        (DRAWN.normal(0, 1, 99), "spread"),
        (np.r_[np.zeros(60), np.ones(40)], "spread"),
        (np.empty(0), "none"),
    ],
)
def test_five_shapes(values, shape: str) -> None:
    told = histogram(values)
    assert told["shape"] == shape
    assert sum(b["count"] for b in told["bins"]) == values.size


def test_what_a_plan_lacks_is_said() -> None:
    config = {"seed": 1, "total_timesteps": 1000, "env_id": "CartPole-v1", "learning_rate": 0.7, "algo": "ppo"}
    answer = preflight(LOW, HIGH, Run(config=config))
    assert answer["context"]["missing"] == ["code version", "dependency versions", "evaluation command"]
    assert not answer["ready"]
    assert "learning rate is 0.7" in answer["summary"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"return": 1.5, "length": 3}\n{"return": 2.5, "length": 4}\nnot json\n'),
        ("0.monitor.csv", '#{"t_start": 1.0, "env_id": "X-v0"}\nr,l,t\n1.5,3,0.1\n2.5,4,0.2\n'),
        ("returns.txt", "1.5\n2.5\n"),
    ],
)
def test_episodes_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert returns(tmp_path / name).tolist() == [1.5, 2.5]


def test_the_command_answers(tmp_path: Path) -> None:
    for name, values in (("random", LOW), ("scripted", HIGH)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"return": float(v)}) + "\n" for v in values))
    asked = ["preflight", "--random", str(tmp_path / "random.jsonl"), "--scripted", str(tmp_path / "scripted.jsonl")]
    assert json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)["ready"]
    assert CliRunner().invoke(main, asked).output.startswith("ready")
    assert CliRunner().invoke(main, ["preflight"]).exit_code == 2


MODEL = {"hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "intermediate_size": 8192, "vocab_size": 128256}


@pytest.mark.parametrize(
    ("words", "ready", "says"),
    [
        (["--rewards", "rewards.txt"], False, "97 % of the episodes get the least reward"),
        (["--model", "config.json", "--gib", "24"], False, "GiB a GPU and 24 are there"),
        (
            ["--model", "config.json", "--gib", "800"],
            True,
            "Nothing that was looked at (memory) stops you; not looked at: episodes, rewards, settings and prompts.",
        ),
        (["plan", "--model", "config.json"], True, "Not described: "),
    ],
)
def test_rewards_alone_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], ready: bool, says: str) -> None:
    """A histogram needs no policies; memory is compared with what is there; a plan says what it lacks, the evaluation's parts, too."""
    monkeypatch.chdir(tmp_path)
    Path("rewards.txt").write_text("0\n" * 97 + "1\n" * 3)
    Path("config.json").write_text(json.dumps(MODEL))
    Path("plan").mkdir()
    Path("plan/config.yaml").write_text("learning_rate: 1.0e-6\nmax_prompt_length: 512\nmax_response_length: 1536\nlora_rank: 8\n")
    told = CliRunner().invoke(main, ["preflight", *words, "--json"])
    answer = json.loads(told.stdout)
    assert (answer["ready"], says in answer["summary"]) == (ready, True), answer["summary"]
    assert ("memory" in CliRunner().invoke(main, ["preflight", *words]).output.lower()) == ("--model" in words)


def test_the_setup_for_memory_comes_from_the_settings() -> None:
    config = {"actor.max_prompt_length": 512, "lora_rank": 8}
    found = setup_of(Run(config=config, settings={"max_response_length": 1536, "algorithm": "gae"}), 4)
    assert found == {"gpus": 4, "critic": True, "tokens": 2048, "lora_rank": 8}


def _prompts(path: Path, words: list[int], rates: list[float | None], seed: int = 0) -> Path:
    """A file of prompts of so many words each, and how often the base model solved it."""
    rng = np.random.default_rng(seed)
    rows = [
        {"question": " ".join(f"w{i}" for i in rng.integers(0, 9_000, n))} | ({"pass_rate": r} if r is not None else {})
        for n, r in zip(words, rates, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("train", "test", "says"),
    [
        (([20] * 90, [0.4] * 90, 1), ([20] * 60, [0.45] * 60, 2), ""),
        (([20] * 90, [0.4] * 90, 1), ([20] * 90, [0.4] * 90, 1), "100.0 % of the test"),
        (([20] * 90, [0.7] * 90, 1), ([20] * 90, [0.1] * 90, 2), "the test is harder"),
        (([20] * 90, [0.0] * 90, 1), ([20] * 90, [0.0] * 90, 2), "never solved by the base model"),
        (([20] * 90, [0.4] * 90, 1), ([300] * 90, [0.4] * 90, 2), "another distribution"),
    ],
    ids=["alike", "copied", "harder", "no signal", "longer"],
)
def test_prompts_of_training_against_the_test(tmp_path: Path, train, test, says: str) -> None:
    told = before(**{n: _prompts(tmp_path / f"{n}.jsonl", *how) for n, how in (("train", train), ("test", test))})
    assert told["ready"] == (not says)
    assert says in " ".join(told["prompts"]["faults"])


def test_a_near_copy_is_one_and_rows_without_rates_say_so(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"prompt": " ".join(words)}) + "\n")
    (tmp_path / "b.csv").write_text("prompt,answer\n" + f'"Please: {" ".join(words[3:30])}",7\n' + f'"{" ".join(reversed(words))}",8\n')
    told = before(train=tmp_path / "a.jsonl", test=tmp_path / "b.csv")["prompts"]
    assert told["shared"] == {"the_same": 0, "near_copies": 1, "of_test": 2}
    assert "add a column pass_rate" in told["says"]
    (tmp_path / "c.csv").write_text("x\n1\n")
    with pytest.raises(UsageError, match="holds no prompts; it has x"):
        before(train=tmp_path / "a.jsonl", test=tmp_path / "c.csv")
