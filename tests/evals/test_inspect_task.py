"""The Inspect task with a model that follows a script: Inspect's own mock without tools, and a provider over HTTP with the real server."""

import json
import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[2] / "evals"), str(Path(__file__).parents[1] / "advisors")]

from rl_advisor.evals.harness import score_answers
from shared_corpus import CORPUS, LABELS, truth
from wire import Says, provider

MODEL = "mockllm/model"
# Inspect leaves streams of its own to the garbage collector.
pytestmark = [pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")]


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    """Inspect keeps notes below the home folder, which need not be there."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


def submitted(answer):
    """A scripted call; the usage is given, since Inspect would download an encoding to count tokens."""
    from inspect_ai.model import ModelOutput, ModelUsage

    output = ModelOutput.for_tool_call(MODEL, "submit", {"answer": answer})
    output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return output


def right_answer(sample):
    label = LABELS[sample.metadata["run"]]
    return json.dumps({k: v for k, v in truth(label, sample.metadata["cut"]).items() if k not in ("run", "cut")})


def task_of(samples, **arm):
    """The task on a few packs of the small corpus, whole runs first."""
    from inspect_ai.dataset import MemoryDataset

    from diagnosis import diagnosis

    work = diagnosis(str(CORPUS), skill=False, **arm)
    work.dataset = MemoryDataset(sorted(work.dataset, key=lambda sample: -sample.metadata["cut"])[:samples])
    return work


def evaluated(work, model, tmp_path):
    import inspect_ai  # takes seconds, which whoever only collects this file need not wait for

    return inspect_ai.eval(work, model=model, display="none", log_dir=str(tmp_path), max_samples=1)[0]


def test_a_scripted_model_is_scored(tmp_path):
    """Right answers without tools hit by Inspect's scorers and by ours; tokens are counted."""
    from inspect_ai.model import get_model

    from diagnosis import answers

    work = task_of(2, tools=False)
    script = (submitted(right_answer(sample)) for sample in work.dataset)
    log = evaluated(work, get_model(MODEL, custom_outputs=script), tmp_path)
    assert log.status == "success", log.error
    assert {s.name: s.metrics["mean"].value for s in log.results.scores}["answered"] == 1
    lines = list(answers(log))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert {line["tokens"] for line in lines} == {10}
    scored = score_answers(CORPUS, tmp_path / "a.jsonl", rows=True, resamples=3)
    answered = {(sample.metadata["run"], sample.metadata["cut"]) for sample in log.samples}
    assert all(row["verdict_hit"] != 0 for row in scored["rows"] if (row["run"], row["cut"]) in answered)
    assert not any(m.role == "tool" and m.function != "submit" for sample in log.samples for m in sample.messages)


def completion(says, number):
    """A turn as a server of chat completions answers it in one piece."""
    calls = [
        {"id": f"call_{number}_{i}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, (n, a) in enumerate(says.calls)
    ]
    message = {"role": "assistant", "content": says.text or None, "tool_calls": calls}
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json.dumps(
        {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    ).encode()


def test_a_real_provider_is_one_argument_away(tmp_path, monkeypatch):
    """The same task, the model named ``openai/...``: real HTTP, our server's tools offered and their answers sent back."""
    from diagnosis import answers

    work = task_of(2, tools=True)
    script = [
        turn
        for sample in work.dataset
        for turn in (
            Says(calls=(("summarize_curves", {"run": sample.id}),)),
            Says(calls=(("submit", {"answer": right_answer(sample)}),)),
        )
    ]
    with provider(completion, "application/json", script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        log = evaluated(work, "openai/gpt-4o", tmp_path)
    assert log.status == "success", log.error
    assert {s.name: s.metrics["mean"].value for s in log.results.scores}["answered"] == 1
    first, second = server.requests[:2]
    assert {"load_run", "summarize_curves", "spot_check_samples", "gpu_phase_profile", "submit"} == {
        tool["function"]["name"] for tool in first["tools"]
    }
    assert "reward/mean" in json.dumps(second["messages"][-1])
    assert {line["tokens"] for line in answers(log)} == {200}


@pytest.mark.parametrize("text", ["", "no idea", '{"call": "perhaps"}', "[1]", '{"verdict": '])
def test_what_is_no_answer_is_none(text):
    """Words without a readable object count as no answer."""
    from diagnosis import said

    assert said(text) == {}
