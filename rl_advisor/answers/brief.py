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
from rl_advisor.output.wording import chance, raw, value

RIVAL = 0.03
"""Probability from which another verdict is worth its characters."""
CURVES, GAPS, SPOKEN = 6, 3, 220
WEIGHTY = 0.3
"""Weight from which a piece of evidence is worth its characters."""


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
        return answer  # a table of several runs is short as it is
    first, last = ({k: answer.get(k) for k in keys} for keys in (("run", "runs", "step"), ("names_as_written",)))
    told = picked(table["fields"], [_PREPARED[kind](answer) if kind in _PREPARED else {}, answer])
    made = {**first, **told, "gaps": answer.get("gaps", [])[:GAPS], **last}
    return fit(_bare(made), table["longest"], characters)


def _bare(found: Any) -> Any:
    """A value without what is empty, numbers to three digits."""
    if isinstance(found, dict):
        return {k: v for k, part in found.items() if (v := _bare(part)) not in (None, "", [], {})}
    if isinstance(found, list):
        return [_bare(part) for part in found]
    return float(f"{found:.3g}") if isinstance(found, float) and abs(found) < 1e6 and found != int(found) else found


def _assess(answer: Answer) -> Answer:
    """What is worth its characters of the probabilities, of the evidence on both sides, of the rivals and of the curves."""
    story, sure, ours = answer["story"], answer["confidence"], answer["verdict"]
    likely = sorted(answer["probabilities"].items(), key=lambda item: -item[1])
    it = _unnamed(story["curves"][0]["label"] if story["curves"] else "")
    told = {it(clause) for clause in answer["why"].split("; ")}
    fresh = [e for e in answer["evidence"] if abs(e["weight"]) >= WEIGHTY and told.isdisjoint({it(e["says"]), *it(e["says"]).split("; ")})]
    against = [e["says"] for e in fresh if e["for"] == ours and e["weight"] < 0]
    return {
        "likely": {v: chance(p, sure) for v, p in likely[:4] if p >= 0.02 and len(likely) > 1},
        "for": [it(e["says"]) for e in fresh if e["for"] == ours and e["weight"] > 0],
        "against": list(map(it, against)),
        "odd": [line for line in answer["at_odds"] if line not in against],
        "near": [r | {"sure": chance(r["p"], sure), "against": it(r["against"])} for r in answer["rivals"] if r["p"] >= RIVAL],
        "drawn": _curves(story["curves"][:CURVES]),
    }


def _unnamed(name: str) -> Callable[[str], str]:
    """What says a sentence about the outcome shortly: no stop, and "it" for the outcome's name, which stands above."""
    return lambda text: (f"it{text[len(name) :]}" if name and text.startswith(f"{name} ") else text).rstrip(".")[:SPOKEN]


def _curves(curves: list[Answer]) -> dict[str, str]:
    """Raw points in rows under one row of steps, then the newest five of each: a curve a row, under the name that the run gave it."""
    if not curves:
        return {}
    rows = {"steps": " ".join(f"{s:.0f}" for s, _ in curves[0]["sketch"])}
    for q in curves:
        name = q["label"] if q["label"] == q["metric"] or (role := ROLES.get(q["metric"])) is None else f"{q['label']} ({role})"
        sketch = " ".join("-" if v is None else raw(v, q["unit"]) for _, v in q["sketch"])
        newest = " ".join(raw(v, q["unit"]) for _, v in q["recent"])
        still = len({*sketch.split(), *newest.split()} - {"-"}) == 1
        tail = f" | last of {q['points']}: {newest}" if q["points"] > len(q["recent"]) else ""
        rows[name] = f"{newest.split()[-1]} throughout" if still else f"{sketch}{tail}"
    return rows


PICKED = ("highest", "lowest", "random", "newest_failures", "contrast", "contradicting", "early_late")
"""Samples, and pairs of them, of which one of each kind is told."""
ROLES = {"kl/ref": "KL to the reference", "kl/old": "KL to the old policy"}
"""What a curve is, where its name alone does not say it."""


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


def differing(rows: list[Answer], most: int) -> tuple[list[Answer], list[str]]:
    """No more than so many of the statistics' steps, first and last among them, and the statistics that ever differ over them."""
    picked = [rows[i] for i in evenly(len(rows), most)]
    names = dict.fromkeys(name for row in picked for name in row if name != "step")
    return picked, [name for name in names if len({row.get(name) for row in picked}) > 1]


def _over_steps(statistics: Answer) -> Answer:
    """The statistics that ever differ, at no more than five steps."""
    picked, names = differing(statistics.get("steps", []), 5)
    told = [n for n in names if n != "responses" and all(isinstance(r.get(n), int | float) for r in picked)][:10]
    rows = {n: " ".join(value(float(r[n]), digits=3) for r in picked) for n in told}
    return {"step": " ".join(f"{r['step']:.0f}" for r in picked)} | rows if picked else {}


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
