"""Answers for a language model by value a character: what ``briefs.toml`` names of the full answer, which is one call away."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.answers.templates import picked
from rl_advisor.features.bins import evenly
from rl_advisor.output import Answer
from rl_advisor.output.budget import fit
from rl_advisor.output.wording import WORDS, chance, raw, value

RIVAL = 0.03
"""Probability from which another verdict is worth its characters."""
FEW = 4
"""Runs of a table up to which each is told with its outcome's numbers, and rows of numbers that are always told."""


def characters(value: Any) -> int:
    """How long a value is as JSON."""
    return len(orjson.dumps(value))


@cache
def briefs() -> Mapping[str, Answer]:
    """The table of what is told of each verb's answer."""
    return tomllib.loads(Path(__file__).with_name("briefs.toml").read_text(encoding="utf-8"))


def brief(kind: str, answer: Answer) -> Answer:
    """The short form of an answer, within its characters; an answer without one is given back as it is."""
    table = briefs().get(kind)
    if table is None or table["held"] not in answer:
        rows = answer.get("runs", ())
        return answer if len(rows) <= FEW else answer | {"runs": [{**row, "curve": None} for row in rows]}
    short = _bare(picked(table["fields"], [_PREPARED[kind](answer) if kind in _PREPARED else {}, answer]))
    while kind == "assess" and characters(short) > table["longest"] and len(short.get("curves", ())) > FEW:
        short["curves"].popitem()  # what speaks least stands last
    return fit(short, table["longest"], characters)


def _bare(found: Any) -> Any:
    """A value without what is empty, numbers to three digits."""
    if isinstance(found, dict):
        return {k: v for k, part in found.items() if (v := _bare(part)) not in (None, "", [], {})}
    if isinstance(found, list):
        return [_bare(part) for part in found]
    return float(f"{found:.3g}") if isinstance(found, float) and abs(found) < 1e6 and found != int(found) else found


def _assess(answer: Answer) -> Answer:
    """The verdicts that are likely, and what each of these words means."""
    likely = {v: p for v, p in sorted(answer["probabilities"].items(), key=lambda item: -item[1])[:4] if p >= RIVAL}
    return {
        "likely": {v: chance(p, answer["confidence"]) for v, p in likely.items()},
        "means": {v: WORDS["verdict"][v]["means"].partition(":")[0] for v in likely},
    }


PICKED = ("highest", "lowest", "random", "newest_failures", "contrast", "contradicting", "early_late")
"""Samples, and pairs of them, of which one of each kind is told."""


def _samples(answer: Answer) -> Answer:
    """One sample of each kind in its envelope, and the statistics that differ over steps."""
    found = {kind: [_sample(row) for row in answer.get(kind, [])[:1]] for kind in PICKED}
    if found["newest_failures"] == found["lowest"]:
        del found["newest_failures"]
    return {"picked": found, "course": _over_steps(answer["statistics"])}


def _sample(row: Answer) -> Answer:
    """What is told of a sample; of a pair of them that of both."""
    fields = briefs()["sample"]["fields"]
    return picked(fields, [row]) if "response" in row else {side: picked(fields, [part]) for side, part in row.items()}


def differing(rows: list[Answer], most: int) -> dict[str, list[Any]]:
    """No more than so many of the statistics' steps, first and last among them, and the statistics that ever differ over them."""
    picked = [rows[i] for i in evenly(len(rows), most)]
    columns = {name: [row.get(name, "") for row in picked] for name in dict.fromkeys(name for row in picked for name in row)}
    return {name: column for name, column in columns.items() if name == "step" or len(set(column)) > 1}


def _over_steps(statistics: Answer) -> Answer:
    """The statistics that ever differ, at no more than five steps."""
    told = differing(statistics.get("steps", []), 5)
    numbers = [n for n, column in told.items() if n != "responses" and all(isinstance(x, int | float) for x in column)]
    return {n: " ".join(value(float(x), digits=3) for x in told[n]) for n in numbers[:11]}


def _measured(answer: Answer) -> Answer:
    """Each curve with its points in a row: as logged where they are few, else means, thinned, and the newest."""
    return {"metrics": [c | _points(c) for c in answer["metrics"]]}


def _points(c: Answer) -> Answer:
    told: Answer = {"other": c["name"] != c["logged_as"]}
    if "sketch" not in c:
        return told
    points, whole = c["sketch"], c["points"] <= len(c["sketch"])
    thin = points if whole else [*points[:-1:2], points[-1]]
    row = f"steps {thin[0][0]}-{thin[-1][0]}: {' '.join(raw(v) for _, v in thin)}"
    return told | ({"raw": row} if whole else {"means": row, "latest": " ".join(raw(v) for _, v in c["newest"])})


def _held(answer: Answer) -> Answer:
    plan = answer["steps"]["planned"] or "an unknown plan"
    return {"plan": plan, "unmapped_in_all": len(answer["unmapped"]), "settings_in_all": len(answer["config"])}


_PREPARED: Mapping[str, Callable[[Answer], Answer]] = {"load": _held, "assess": _assess, "curves": _measured, "samples": _samples}
"""What is made of an answer before its fields are picked."""
