"""The diagnosis of training runs as an Inspect task: a model, with or without our tools and our skill, on a labeled corpus.

``inspect eval evals/diagnosis.py --model PROVIDER/NAME -T tools=false -T skill=true`` runs one arm; the corpus is packed without
labels first. ``python evals/diagnosis.py LOG`` prints the answers of a log, to be scored by ``rl-advisor eval CORPUS --answers FILE``.
Needs the extra ``.[eval]``.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evals.lab.packs import INSTRUCTIONS, TEMPLATE, export
from evals.lab.perturb import injected as with_injection
from inspect_ai import Task, task
from inspect_ai.agent import Agent, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.tool import Tool, ToolSource, mcp_server_stdio, mcp_tools
from rl_advisor.evals.answers import read_answer
from rl_advisor.evals.corpus import Label, read_corpus

HERE = Path(__file__).parent
CORPUS = HERE / "corpus" / "grpo"
SKILL = HERE.parent / "skills" / "rl-practitioner" / "SKILL.md"
SHOWN_ROWS = 60
TOOLS = ["load_run", "summarize_curves", "spot_check_samples", "gpu_phase_profile"]
"""The tools that measure. ``assess_run`` is left out: it would hand over the built-in advisor's own verdict."""


@task
def diagnosis(
    corpus: str = str(CORPUS), split: str | None = None, *, tools: bool = True, skill: bool = True, injected: bool = False
) -> Task:
    """One sample a task pack. ``injected`` shows runs whose responses end in an instruction to the reader."""
    out = Path(tempfile.mkdtemp(prefix="packs-")) / "packs"
    export(Path(corpus), out, split=split, change=with_injection if injected else None)
    key = json.loads((out / "key.json").read_text(encoding="utf-8"))
    labels = read_corpus(Path(corpus)).labels
    samples = [
        Sample(
            id=name, input=_question(out / "tasks" / name, name, tools=tools), metadata=what, target=sorted(labels[what["run"]].verdicts)
        )
        for name, what in key.items()
    ]
    return Task(
        dataset=MemoryDataset(samples, name="diagnosis"),
        solver=_agent(out / "tasks", tools=tools, skill=skill),
        scorer=[answered(labels), verdict_hit(labels), link_hit(labels)],
        config=GenerateConfig(temperature=0.0),
        message_limit=60,
        metadata={"corpus": corpus, "tools": tools, "skill": skill, "injected": injected},
    )


def _agent(root: Path, *, tools: bool, skill: bool) -> Agent:
    """A model that works with the real server over stdio, or with nothing but what the question shows."""
    server = mcp_server_stdio(name="rl-advisor", command=sys.executable, args=["-m", "rl_advisor", "serve", "--root", str(root)])
    given: list[Tool | ToolSource] = [mcp_tools(server, tools=TOOLS)] if tools else []
    return react(prompt=INSTRUCTIONS + ("\n" + SKILL.read_text(encoding="utf-8") if skill else ""), tools=given)


def _question(folder: Path, name: str, *, tools: bool) -> str:
    asked = f"Judge the run {name}. Submit one JSON object with the keys {', '.join(TEMPLATE)} and nothing else."
    if tools:
        return asked
    rows = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [rows[round(k * (len(rows) - 1) / max(1, SHOWN_ROWS - 1))] for k in range(SHOWN_ROWS)] if len(rows) > SHOWN_ROWS else rows
    texts = (folder / "rollouts.jsonl").read_text(encoding="utf-8").splitlines() if (folder / "rollouts.jsonl").exists() else []
    config = (folder / "config.json").read_text(encoding="utf-8")
    parts = {"config.json": config, "metrics.jsonl, thinned": "\n".join(kept), "rollouts.jsonl, the last": "\n".join(texts[-10:])}
    return asked + "".join(f"\n\n{head}\n{text}" for head, text in parts.items() if text)


def said(text: str) -> dict[str, Any]:
    """The JSON object in an answer; empty when there is none."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[begin : end + 1])
        read_answer(found)
    except (ValueError, TypeError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


@scorer(metrics=[mean()])
def answered(_labels: dict[str, Label]) -> Scorer:
    """Whether there was an answer that can be read at all."""

    async def score(state: TaskState, _target: Target) -> Score:
        found = said(state.output.completion)
        return Score(value=float(bool(found)), answer=json.dumps(found))

    return score


@scorer(metrics=[mean()])
def verdict_hit(labels: dict[str, Label]) -> Scorer:
    """Whether the verdict is admitted; NaN where the label of the whole run does not speak of the part that was shown."""

    async def score(state: TaskState, _target: Target) -> Score:
        label, answer = labels[state.metadata["run"]], read_answer(said(state.output.completion))
        return Score(value=_asked(label, state, answer.verdict in label.verdicts), answer=answer.verdict)

    return score


@scorer(metrics=[mean()])
def link_hit(labels: dict[str, Label]) -> Scorer:
    """Whether the first broken link is admitted; NaN as for the verdict."""

    async def score(state: TaskState, _target: Target) -> Score:
        label, answer = labels[state.metadata["run"]], read_answer(said(state.output.completion))
        return Score(value=_asked(label, state, answer.link in (label.links or {"none"})), answer=answer.link)

    return score


def _asked(label: Label, state: TaskState, hit: bool) -> float:
    return float(hit) if label.visible_at(label.step_at(state.metadata["cut"])) else float("nan")


def answers(log: EvalLog) -> Iterator[dict[str, Any]]:
    """One line a sample of a log, as ``rl-advisor eval --answers`` takes it, with what the answer cost."""
    for sample in log.samples or []:
        yield {**said(sample.output.completion), "run": sample.metadata["run"], "cut": sample.metadata["cut"], **_cost(sample)}


def _cost(sample: EvalSample) -> dict[str, float | None]:
    return {"tokens": sum(u.total_tokens for u in sample.model_usage.values()), "seconds": sample.total_time}


if __name__ == "__main__":
    for line in answers(read_eval_log(sys.argv[1])):
        print(json.dumps(line))
