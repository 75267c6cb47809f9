"""The command line and the verbs pass on what a model advisor is asked for, and no failure of a model is remembered."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.cli.commands import main
from wire import Fails, Says

FOLDER = Path(__file__).parents[1] / "data" / "corpus" / "runs" / "run-01"


def ask(*words):
    """The command in this process."""
    return CliRunner().invoke(main, [str(w) for w in words])


def test_options_reach_the_model(speaker, judgement, tmp_path):
    """Model, server, caps and transcript work from the command line; stdout holds the JSON alone."""
    with speaker.play([Says(calls=(("give_assessment", judgement),))]) as provider:
        options = ("--model", "claude-opus-5-5", "--base-url", provider.url + speaker.path, "--max-cost", 2, "--max-tokens", 90000)
        result = ask("assess", FOLDER, "--json", "--advisor", speaker.name, *options, "--transcript", tmp_path / "t.jsonl")
    assert json.loads(result.stdout)["p_continue_pays"] == 0.11
    assert provider.requests[0]["model"] == "claude-opus-5-5"
    assert len((tmp_path / "t.jsonl").read_bytes().splitlines()) == 3
    assert "about $" in result.stderr


def test_report_is_written_from_a_model(speaker, judgement, tmp_path, monkeypatch):
    """The page shows the model's summary, its claims by the run's own names."""
    with speaker.play([Says(calls=(("give_assessment", judgement),))]) as provider:
        monkeypatch.setenv("RL_ADVISOR_BASE_URL", provider.url + speaker.path)
        assert ask("report", FOLDER, "--out", tmp_path / "r.md", "--advisor", speaker.name).exit_code == 0
    assert r"The run collapsed (eval\_accuracy fell from 0.94 at step 120 to 0 at step 160)" in (tmp_path / "r.md").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-tokens", "9"), "builtin advisor makes no use of --max-tokens"),
        (("--model", "m", "--base-url", "x"), "no use of --model, --base-url"),
    ],
)
def test_options_without_effect_are_said(words, said):
    """The built-in advisor ignores what only a model can follow, and says so."""
    result = ask("assess", FOLDER, "--json", *words)
    assert result.exit_code == 0
    assert said in result.stderr


def test_impossible_cap_is_the_callers_mistake():
    """A cap in money without a price ends with the exit code of a mistake and the way out."""
    result = ask("assess", FOLDER, "--advisor", "openai", "--model", "mine", "--max-cost", 1)
    assert result.exit_code == 2
    assert "RL_ADVISOR_PRICES" in result.stderr


def test_failure_of_a_model_is_not_remembered(speaker, judgement):
    """A second question after a refused one reaches the model."""
    with speaker.play([Fails(401), Says(calls=(("give_assessment", judgement),))]) as provider:
        options = {"base_url": provider.url + speaker.path}
        first, second = (tools.assess_run(FOLDER, advisor=speaker.name, options=options) for _ in range(2))
    assert "refused the key" in first["summary"]
    assert second["p_continue_pays"] == 0.11
