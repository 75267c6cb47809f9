"""A scripted provider for each advisor, a small real run, and a judgement of it that stands."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import wire
from rl_advisor.reading import read_run
from rl_advisor.tools.advisors import anthropic, builtin, openai

FOLDER = Path(__file__).parents[1] / "data" / "corpus" / "runs" / "run-01"


@dataclass(frozen=True)
class Speaker:
    """An advisor and the protocol that it speaks."""

    name: str
    advisor: ModuleType
    spoken: wire.Spoken
    path: str

    def play(self, script: list[Any]) -> Any:
        """A provider with that script, for a with-statement."""
        return wire.provider(self.spoken, "application/json", script)

    def assess(self, run: Any, provider: wire.Provider, **options: Any) -> Any:
        """What the advisor makes of the run with that provider."""
        return self.advisor.assess(run, base_url=provider.url + self.path, **options)


@pytest.fixture(params=["anthropic", "openai"])
def speaker(request) -> Speaker:
    """Each advisor in turn."""
    if request.param == "anthropic":
        return Speaker("anthropic", anthropic, wire.anthropic, "")
    return Speaker("openai", openai, wire.openai, "/v1")


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    """A key that is none, and nothing of the machine's own settings."""
    for name in ("RL_ADVISOR_MODEL", "RL_ADVISOR_BASE_URL", "RL_ADVISOR_PRICES", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "key-of-the-test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(autouse=True)
def slept(monkeypatch) -> list[float]:
    """How long the clients waited between two tries; nobody really waits."""
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    return waits


known: dict[int, tuple[Any, Any]] = {}
"""Runs by their identity, and what the built-in advisor said of them."""


@pytest.fixture(autouse=True, scope="module")
def _measured_once() -> Iterator[None]:
    """The findings of a run are worked out once for all sessions about it; what is tried here is what a model makes of them."""

    def assess(run: Any) -> Any:
        if id(run) not in known:
            known[id(run)] = run, measured(run)
        return known[id(run)][1]

    measured, builtin.assess = builtin.assess, assess
    yield
    builtin.assess = measured


@pytest.fixture(scope="session")
def run():
    """A run that collapsed."""
    return read_run(FOLDER)


@pytest.fixture(scope="session")
def base(run):
    """What the built-in advisor says of it."""
    return builtin.assess(run)


@pytest.fixture
def judgement(base) -> dict[str, Any]:
    """What a model may hand in: another chance than the built-in advisor's, claims that hold, and prose that cites them."""
    return {
        "verdict": "collapsed",
        "call": "stop",
        "p_continue_pays": 0.11,
        "confidence": "medium",
        "probabilities": {"collapsed": 0.9, "degrading": 0.1},
        "claims": [
            {"metric": "eval_accuracy", "says": "fell", "from_step": 120, "from_value": 0.94, "step": 160, "value": 0},
            {"metric": "learning_rate", "from_step": 147, "from_value": 2e-4, "step": 153, "value": 0.008},
            {"metric": "completions/clipped_ratio", "value": 98, "unit": "percent", "speaks_for": "degrading"},
        ],
        "why": "The held-out score fell and stayed down [1].",
        "best_checkpoint_step": base.best_checkpoint.step,
        "best_checkpoint_why": "It was saved before the rate jumped [2].",
        "first_broken_link": base.first_broken_link,
        "onset": base.onset.model_dump(),
        "ruled_out": [],
        "could_not_see": ["Nobody read the samples of the last steps."],
        "next_experiment": {"do": "Resume earlier.", "expect_if_right": "It holds.", "expect_if_wrong": "It falls."},
        "summary": "The run collapsed [1] after its learning rate jumped [2].",
    }


@pytest.fixture
def summary() -> str:
    """What is signed of that summary."""
    fell = "eval/score/accuracy fell from 0.94 at step 120 to 0 at step 160"
    return (
        f"The run collapsed ({fell}) after its learning rate jumped (policy/learning_rate went from 2e-4 at step 147 to 0.008 at step 153)."
    )
