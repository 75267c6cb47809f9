"""Before training: whether the reward tells a good policy from a random one, what its histogram says, and what a plan does not describe.

Episodes are read from monitor files, CSV or JSONL; no code of the user's is run.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.answers.comparable import against
from rl_advisor.answers.context import context
from rl_advisor.answers.templates import case
from rl_advisor.discovery import table
from rl_advisor.finding import Outcome, number
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.output.wording import listed
from rl_advisor.reading import part_of
from rl_advisor.reading.parsing.bytes_in import lines
from rl_advisor.run import Floats, Run
from rl_advisor.settings import checks
from rl_advisor.settings.protocol import given, protocol

RETURNS: list[str] = table(__file__, "handed_in.toml")["episode"]
"""Names of an episode's return, the likeliest first."""
FEW = 8
"""Episodes of each policy below which nothing is said of a difference."""
LIMIT = 100_000
NONE: Floats = np.empty(0)


def returns(path: Path) -> Floats:
    """The returns of the episodes in a monitor file, a CSV or JSONL; empty where none are found."""
    part = part_of(path)
    curve = next((part.curves[name] for name in RETURNS if name in part.curves), None) if part is not None else None
    if curve is not None:
        return curve.numbers[:LIMIT]
    found = (_of_line(line) for _, line in zip(range(LIMIT), lines(path), strict=False))
    return np.array([value for value in found if value is not None and np.isfinite(value)])


def before(plan: Path | None = None, *, gpus: int = 1, gib: float | None = None, **files: Path) -> Answer:
    """What :func:`preflight` says of a folder or file of settings, and of files by name.

    They are ``random``, ``scripted``, ``rewards``, ``model``, and ``train`` with ``test`` (prompts).

    Raises:
        ValueError: the model's configuration tells no shape.
        UsageError: nothing is given, a file of prompts holds none, or only one of the two sets is given.
    """
    from rl_advisor.answers.prompt_sets import compared
    from rl_advisor.answers.settings_check import settings_at
    from rl_advisor.gpu.memory import of_file

    if plan is None and not files:
        raise UsageError("give settings, episodes of a random and of a scripted policy, rewards, prompts to train and test on, or a model")
    chance, rule, paid = (returns(files[name]) if name in files else NONE for name in ("random", "scripted", "rewards"))
    settings = settings_at(plan) if plan is not None else Run()
    memory = of_file(files["model"], **setup_of(settings, gpus)) | {"gib_there": gib} if "model" in files else None
    if ("train" in files) != ("test" in files):
        raise UsageError("prompts are compared in pairs: give both --train and --test")
    prompts = compared(files["train"], files["test"]) if "train" in files else None
    return preflight(chance, rule, settings, paid, memory, prompts)


def preflight(  # noqa: PLR0913
    random: Floats,
    scripted: Floats,
    settings: Run,
    rewards: Floats = NONE,
    memory: Answer | None = None,
    prompts: Answer | None = None,
) -> Answer:
    """What is known before the first update, as plain JSON: both policies against each other, the histogram, the context, the settings.

    ``rewards`` are more of them, of no known policy; ``memory`` is an estimate, with ``gib_there`` where the GPU's size is known;
    ``prompts`` are both sets of prompts against each other.
    """
    both = np.concatenate([random, scripted, rewards])
    said = [checks.told(o) for o in checks.run(settings) if o.outcome in (Outcome.PRESENT, Outcome.UNCLEAR)]
    episodes, shape, planned, evaluated = _against(random, scripted), histogram(both), context(settings)["before"], protocol(settings)
    told = (
        episodes["says"] if episodes["tells_apart"] is False else "",
        shape["says"] if shape["alarm"] else "",
        _too_large(memory),
        *(prompts or {}).get("faults", ()),
        *(c["statement"] for c in said if c["outcome"] == "fault"),
    )
    stops = [reason for reason in told if reason]
    lacks = [*planned["missing"], *(f"{part} of the evaluation" for part in evaluated["missing"] if settings.config)]
    asked = {"episodes": min(random.size, scripted.size), "rewards": both.size, "settings": settings.config}
    summary = " ".join(stops) or f"{_looked_at(asked | {'memory': memory, 'prompts': prompts})} {episodes['says']}"
    return {
        "ready": not stops,
        "episodes": episodes,
        "histogram": shape,
        "context": planned,
        "protocol": evaluated,
        "memory": memory,
        "prompts": prompts,
        "checks": said,
        "summary": summary + (f" Not described: {', '.join(lacks)}." if lacks else ""),
    }


def _looked_at(asked: Mapping[str, Any]) -> str:
    """What was looked at and does not stop anybody, and what was not looked at."""
    there, lacking = ([name for name, given in asked.items() if bool(given) is seen] for seen in (True, False))
    return f"Nothing that was looked at ({', '.join(there)}) stops you{f'; not looked at: {listed(lacking)}' if lacking else ''}."


def setup_of(settings: Run, gpus: int) -> Answer:
    """What the settings say of the memory's set-up: tokens of prompt and response, adapters, a critic."""
    lengths = (settings.settings.get("max_response_length"), given(settings, "max_prompt_length"))
    rank = given(settings, "lora_rank") or given(settings, "lora_r")
    told = {"tokens": sum(int(n) for n in lengths if isinstance(n, int | float)), "lora_rank": rank if isinstance(rank, int) else 0}
    critic = str(settings.settings.get("algorithm", "")).lower() in ("ppo", "gae")
    return {"gpus": gpus, "critic": critic, **{name: n for name, n in told.items() if n > 0}}


def _too_large(memory: Answer | None) -> str:
    """Why the plan does not fit into the GPU; empty where it does or nothing is known."""
    if memory is None or (there := memory["gib_there"]) is None or memory["total_gib"] <= there:
        return ""
    first = "; ".join(memory["reduce_first"][:2])
    return f"It needs about {memory['total_gib']:.0f} GiB a GPU and {there:.0f} are there. Reduce first: {first}."


def _against(random: Floats, scripted: Floats) -> Answer:
    """The two policies against each other, with intervals; ``tells_apart`` is None where there are too few episodes."""
    counts = {"random": random.size, "scripted": scripted.size}
    if min(counts.values()) < FEW:
        return {**counts, "tells_apart": None, "says": f"At least {FEW} episodes of each policy are needed to compare them."}
    found = against("random", {"random": random, "scripted": scripted})[0]
    better, p = found["probability_of_improvement"], found["p"]
    middle = f"{number(np.median(random))} against {number(np.median(scripted))} in the middle"
    figures = {"difference": found["b_minus_a"], "share_better": better, "p": p}
    return counts | figures | case("policies", {"p": p, "better": better["value"], "middle": middle})


def histogram(values: Floats) -> Answer:
    """The shape of the rewards, what it means, and whether it is an alarm."""
    if not values.size:
        return {**case("paid", {}), "bins": []}
    counts, edges = np.histogram(values, bins=min(12, max(1, np.unique(values).size)))
    bins = [{"from": a, "to": b, "count": c} for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)]
    low, first, middle, third, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    far = np.abs(values - middle).max()
    figures = {"middle": middle, "far": far, "tail": far / (third - first) if third > first else float("inf")}
    figures |= {"at_lowest": (values == low).mean(), "at_highest": (values == high).mean()}
    return {**case("paid", figures | {"count": values.size, "range": int(high > low)}), "bins": bins}


def _of_line(line: str) -> float | None:
    """The return in one line of JSONL, or a line that is a number."""
    text = line.strip()[:20_000]
    try:
        row = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    if isinstance(row, dict):
        row = next((row[name] for name in RETURNS if name in row), None)
    return float(row) if isinstance(row, int | float) and not isinstance(row, bool) else None
