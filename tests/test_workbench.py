"""The commands beside the verbs: what they answer, and what they say when something is not there."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main

CONFIG = {
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
}


def call(*words: str | Path):
    """One command, as a person would type it."""
    return CliRunner().invoke(main, [str(w) for w in words])


def test_memory_of_a_setup(tmp_path: Path) -> None:
    """A model's configuration gives parts that sum to the total, and sharding needs less."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG))
    whole, sharded = (json.loads(call("memory", config, "--json", "--gpus", "8", "--stage", str(stage)).stdout) for stage in (0, 3))
    assert whole["total_gib"] == pytest.approx(sum(whole["gib"].values()), rel=1e-4)
    assert sharded["total_gib"] < whole["total_gib"]
    assert 0.9e9 < whole["parameters"] < 1.6e9


@pytest.mark.parametrize("words", [("memory", "nowhere.json"), ("consistency", "nowhere.jsonl", "nowhere.jsonl")])
def test_what_is_not_there_is_a_mistake(words: tuple[str, ...]) -> None:
    """A missing file is the caller's mistake, said in a line."""
    found = call(*words)
    assert found.exit_code == 2
    assert "does not exist" in found.stderr


def test_configuration_of_something_else(tmp_path: Path) -> None:
    """A JSON file that describes no model says so."""
    config = tmp_path / "config.json"
    config.write_text("{}")
    found = call("memory", config)
    assert found.exit_code == 2
    assert "does not describe a model" in found.stderr


def test_consistency_of_two_dumps(tmp_path: Path) -> None:
    """Equal dumps match; a dump of other prompts is a mistake that names both."""
    rows = [{"step": s, "prompt": f"p{s}", "response": f"answer {s}", "reward": 1.0} for s in range(4)]
    a, b, other = (tmp_path / f"{name}.jsonl" for name in ("a", "b", "other"))
    for path, chosen in ((a, rows), (b, rows), (other, [{**r, "prompt": "else" + r["prompt"]} for r in rows])):
        path.write_text("\n".join(map(json.dumps, chosen)))
    assert json.loads(call("consistency", a, b, "--json").stdout)["exact_match"] == 1
    assert call("consistency", a, other).exit_code == 2
