"""The Inspect task with a model that follows a script and the real server over stdio; collected only where Inspect is installed."""

import json
import sys
from pathlib import Path

import inspect_ai
import pytest

sys.path.append(str(Path(__file__).parents[2] / "evals"))

from inspect_ai.model import ModelOutput, ModelUsage, get_model
from rl_advisor.evals.harness import score_answers
from shared_corpus import CORPUS, LABELS, truth

from diagnosis import answers, diagnosis, said

MODEL = "mockllm/model"
# Inspect leaves streams of its own to the garbage collector.
pytestmark = [pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning")]


def called(name, **arguments):
    """A scripted tool call; the usage is given, since Inspect would download an encoding to count tokens."""
    output = ModelOutput.for_tool_call(MODEL, name, arguments)
    output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    return output


def evaluated(tmp_path, *, tools):
    work = diagnosis(str(CORPUS), tools=tools, skill=False)
    script = []
    for sample in work.dataset:
        label = LABELS[sample.metadata["run"]]
        right = {k: v for k, v in truth(label, sample.metadata["cut"]).items() if k not in ("run", "cut")}
        look = [called("summarize_curves", run=sample.id)] if tools else []
        script += [*look, called("submit", answer=json.dumps(right))]
    model = get_model(MODEL, custom_outputs=iter(script))
    return inspect_ai.eval(work, model=model, display="none", log_dir=str(tmp_path), max_samples=1)[0]


@pytest.mark.parametrize("tools", [True, False])
def test_a_scripted_model_is_scored(tmp_path, tools):
    """Right answers hit by Inspect's scorers and by ours; the tool's answer reached the model; tokens are counted."""
    log = evaluated(tmp_path, tools=tools)
    assert log.status == "success", log.error
    assert {s.name: s.metrics["mean"].value for s in log.results.scores}["answered"] == 1
    lines = list(answers(log))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert {line["tokens"] for line in lines} == {20 if tools else 10}
    scored = score_answers(CORPUS, tmp_path / "a.jsonl", resamples=3)
    assert scored["cuts"]["1"]["verdict_hit"] is not None
    assert scored["cost"]["tokens"] == (20 if tools else 10)
    told = [m.text for sample in log.samples for m in sample.messages if m.role == "tool" and m.function == "summarize_curves"]
    assert len(told) == (len(log.samples) if tools else 0)
    assert all("reward/mean" in text for text in told)


@pytest.mark.parametrize("text", ["", "no idea", '{"call": "perhaps"}', "[1]", '{"verdict": '])
def test_what_is_no_answer_is_none(text):
    """Words without a readable object count as no answer."""
    assert said(text) == {}
