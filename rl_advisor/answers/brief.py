"""Answers for a language model by value a character: what decides comes first, what is the same for every run stays out.

Each takes the full answer of a verb and gives the part that a second look is chosen by; the whole is one call away.
"""

import math
from collections.abc import Callable
from typing import Any

import orjson

from rl_advisor.answers.context import unrecorded
from rl_advisor.output.budget import fit
from rl_advisor.output.wording import chance, plain, value

Answer = dict[str, Any]
RIVAL = 0.03
"""Probability from which another verdict is worth its characters."""
EVIDENCE, AT_ODDS, CURVES, METRICS, MOST_LEFT, UNMAPPED, SPOKEN = 2, 3, 6, 30, 20, 12, 220
GAPS = 3
WEIGHTY = 0.3
"""Weight from which a piece of evidence is worth its characters."""
SPARE = ("unmapped_moved", "risk", "also_present", "effects", "evidence_for", "evidence_against", "at_odds", "rivals")
"""What gives way where an answer is too long, in this order: the last of it first."""


def characters(value: Any) -> int:
    """How long a value is as JSON."""
    return len(orjson.dumps(value))


def brief(kind: str, answer: Answer) -> Answer:
    """The short form of an answer, within its characters; an answer without one is given back as it is."""
    make, longest, held = BRIEFS.get(kind, (None, 0, ""))
    if make is None or held not in answer:
        return answer  # a table of several runs is short as it is
    first, last = ({k: answer.get(k) for k in keys} for keys in (("run", "runs", "step"), ("names_as_written",)))
    made = {**first, **make(answer), "gaps": answer.get("gaps", [])[:GAPS], **last}
    return fit(_spared(_bare(made), longest), longest, characters)


def _spared(found: Answer, limit: int) -> Answer:
    """The answer without the last of its less telling lists, as far as it takes to be within ``limit`` characters."""
    for name in SPARE:
        while characters(found) > limit and found.get(name):
            kept = found[name][:-1] if isinstance(found[name], list) else None
            found = {k: kept if k == name else v for k, v in found.items() if k != name or kept}
    return found


def _bare(found: Any) -> Any:
    """A value without what is empty, numbers to three digits."""
    if isinstance(found, dict):
        return {k: v for k, part in found.items() if (v := _bare(part)) not in (None, "", [], {})}
    if isinstance(found, list):
        return [_bare(part) for part in found]
    return float(f"{found:.3g}") if isinstance(found, float) and abs(found) < 1e6 and found != int(found) else found


def _assess(answer: Answer) -> Answer:
    """Verdict, call and what to do; the chain; evidence on both sides; settings; raw points; rivals; what is missing; what to call."""
    story = answer["story"]
    ours, sure = answer["verdict"], answer["confidence"]
    likely = sorted(answer["probabilities"].items(), key=lambda item: -item[1])
    it = _unnamed(story["curves"][0]["label"] if story["curves"] else "")
    told = {it(clause) for clause in answer["why"].split("; ")}
    fresh = [e for e in answer["evidence"] if abs(e["weight"]) >= WEIGHTY and told.isdisjoint({it(e["says"]), *it(e["says"]).split("; ")})]
    near = [r for r in answer["rivals"] if r["p"] >= RIVAL]
    against = [e for e in fresh if e["for"] == ours and e["weight"] < 0]
    return {
        "at": f"{story['progress']}, {story['framework']}" if story["framework"] else story["progress"],
        "verdict": ours,
        "confidence": sure,
        "probabilities": {v: chance(p, sure) for v, p in likely[:4] if p >= 0.02 and len(likely) > 1},
        "why": answer["why"],
        "call": answer["call"],
        "call_reason": answer["call_reason"],
        "p_continue_pays": round(answer["p_continue_pays"], 2),
        "first_broken_link": answer["first_broken_link"],
        "onset": answer["onset"],
        **{FACTS.get(label, label.lower()): text for label, text in story["facts"].items() if label not in TOLD},
        "also_present": [line[:SPOKEN] for line in story["also"]],
        "evidence_for": [it(e["says"]) for e in fresh if e["for"] == ours and e["weight"] > 0][:EVIDENCE],
        "evidence_against": [it(e["says"]) for e in against][:EVIDENCE],
        "at_odds": [line[:SPOKEN] for line in answer["at_odds"] if line not in {e["says"] for e in against}][:AT_ODDS],
        "settings": "; ".join(f"{k} {v}" for k, v in story["settings"].items()),
        "curves": _curves(story["curves"][:CURVES]),
        "rivals": [f"{plain(r['verdict'])} {chance(r['p'], sure)}" + f"; against: {it(r['against'])}" * bool(r["against"]) for r in near],
        "could_change_this": story["could_change"],
        "not_recorded": unrecorded(answer.get("context", {})),
        "unmapped_moved": story["unnamed"],
        "risk": answer["risk"].partition("No checkpoint")[0].strip(),  # what is on disk stands under "keep"
        "ask": answer.get("ask"),
        "next_call": story["next_call"],
    }


FACTS = {"In words": "words", "Do now": "do", "Effect": "effects", "Beside": "beside_sound_runs"}
"""Names by which programs know facts, where these are not their labels."""
TOLD = frozenset(("Limits", "Score", "Why", "At odds", "Also"))
"""Facts that stand elsewhere in the answer: in full, or as curves."""


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
        sketch = " ".join("-" if v is None else _raw(v, q["unit"]) for _, v in q["sketch"])
        newest = " ".join(_raw(v, q["unit"]) for _, v in q["recent"])
        still = len({*sketch.split(), *newest.split()} - {"-"}) == 1
        tail = f" | last of {q['points']}: {newest}" if q["points"] > len(q["recent"]) else ""
        rows[name] = f"{newest.split()[-1]} throughout" if still else f"{sketch}{tail}"
    return rows


ROLES = {"kl/ref": "KL to the reference", "kl/old": "KL to the old policy"}
"""What a curve is, where its name alone does not say it."""


def _raw(x: float, unit: str) -> str:
    """A point of a row, to three digits and without the zero before its point: half the tokens."""
    small = 1e-6 < abs(x) < 1e-3
    told = f"{x:.{2 - math.floor(math.log10(abs(x)))}f}".rstrip("0") if small else value(x, "" if unit == "share" else unit, 3)
    return told.replace("0.", ".", 1) if told.startswith(("0.", "-0.")) else told


def _load(answer: Answer) -> Answer:
    """What the run is, the settings that matter, its metrics under both names, what is there besides, what could not be read."""
    steps, samples, saved = answer["steps"], answer["rollouts"], answer["checkpoints"]
    metrics = [
        f"{m['raw']} = {m['name']} ({m['points']})" if m["raw"] != m["name"] else f"{m['name']} ({m['points']})" for m in answer["metrics"]
    ]
    return {
        "frameworks": answer["frameworks"],
        "steps": f"{steps['first']:g} to {steps['last']:g} of {steps['planned'] or 'an unknown plan'}, {steps['unit']}",
        "settings": answer.get("settings"),
        "samples": f"{samples['count']} at {len(samples['steps'])} steps" if samples["count"] else "none",
        "checkpoints": [c["step"] for c in saved],
        "events": answer["events"][:3],
        "unmapped": answer["unmapped"][:UNMAPPED],
        "metrics": metrics[:METRICS],
        "telemetry": answer["telemetry"] if answer["telemetry"]["samples"] else None,
        "formats": answer["formats"],
        "not_recorded": unrecorded(answer.get("context", {})),
        "unmapped_in_all": len(answer["unmapped"]),
        "settings_in_all": len(answer["config"]),
    }


def _samples(answer: Answer) -> Answer:
    """What the samples say and what changed, one sample of each kind in its envelope, how the reward is made, few statistics over steps."""
    picked = {kind: answer.get(kind, [])[:1] for kind in ("highest", "lowest", "random", "newest_failures")}
    if picked["newest_failures"] == picked["lowest"]:
        picked["newest_failures"] = []
    one = {kind: [_sample(s) for s in found] for kind, found in picked.items()}
    pairs = {
        kind: [{side: _sample(s) for side, s in pair.items()} for pair in answer.get(kind, [])[:1]]
        for kind in ("contrast", "contradicting", "early_late")
    }
    return {
        "responses": answer["responses"],
        "says": [f"{s['pattern']} ({s['outcome']}): {s['statement']}"[:SPOKEN] for s in answer["says"][:6]],
        "why_episodes_failed": answer.get("failures", {}).get("says"),
        "paid_for": answer.get("paid_for", {}).get("says"),
        "credit": answer.get("credit", {}).get("says"),
        "changes": [_change(m) for m in answer["changes"].get("measures", [])[:6]],
        "reward": _reward(answer["reward"]),
        **one,
        **pairs,
        "over_steps": _over_steps(answer["statistics"]),
    }


def _change(m: Answer) -> str:
    since = f", from step {m['onset']['step']:.0f}" if m.get("onset") else ""
    return f"{m['measure'].replace('_', ' ')} {value(m['first'], digits=3)} → {value(m['latest'], digits=3)}{since}"


def _sample(row: Answer) -> Any:
    """A sample with its rewards, its text in one envelope that says where it stands."""
    if not isinstance(row, dict) or "response" not in row:
        return row
    parts = [p["untrusted"][:200] for p in (row.get("prompt"), row["response"]) if isinstance(p, dict) and "untrusted" in p]
    named = {k: row[k] for k in ("step", "reward", "length", "truncated") if row.get(k) is not None and row.get(k) is not False}
    made = row.get("components") or {}
    text = {"untrusted": "\n→ ".join(parts), "from": f"row {row.get('row')}"}
    return named | ({"components": made} if len(made) > 1 else {}) | {"text": text}


def _reward(found: Answer) -> Answer:
    """How the reward behaves: its spread, groups without spread, what it goes with."""
    kept: Answer = {k: found[k] for k in ("groups", "against_length", "same_text", "cannot_tell") if k in found}
    h = found.get("histogram")
    spread = (
        f"{value(h['min'])} to {value(h['max'])}, median {value(h['median'])}, {value(h['share_at_max'], 'share')} at the top" if h else ""
    )
    made = found.get("components", {})
    parts = {name: c.get("share_of_spread") for name, c in made.items()} if len(made) > 1 else None
    return {"spread": spread, **kept, "share_of_spread": parts}


def _over_steps(found: Any) -> Answer:
    """The statistics that ever differ, at no more than five steps."""
    rows = found.get("steps", []) if isinstance(found, dict) else found
    if not rows:
        return {}
    picked = [rows[round(i * (len(rows) - 1) / 4)] for i in range(5)] if len(rows) > 5 else rows
    names = [n for n in picked[0] if n not in ("step", "responses") and len({r.get(n) for r in picked}) > 1]
    told = [n for n in names if all(isinstance(r.get(n), int | float) for r in picked)]
    return {"step": " ".join(f"{r['step']:.0f}" for r in picked)} | {
        n: " ".join(value(float(r[n]), digits=3) for r in picked) for n in told[:10]
    }


def _measured(answer: Answer) -> Answer:
    """Curves, a dict of short lines each: where it came from and went, both directions with intervals, breaks, raw points."""
    return {
        "curves": [_curve(c) for c in answer["metrics"]],
        "unknown": answer.get("unknown"),
        "left_out": ", ".join(answer["left_out"][:MOST_LEFT]),
    }


def _curve(c: Answer) -> Answer:
    name = c["logged_as"] if len(c["logged_as"]) <= 80 else c["name"]
    told: Answer = {"curve": name, "is": c["name"] if c["name"] != name else None, "points": c["points"], "too_few": c.get("too_few")}
    if "first" not in c:
        return told
    told["logged"] = f"first {_raw(c['first'], '')}, last {_raw(c['last'], '')}, highest {_at(c['highest'])}"
    told |= {part: _way(c[part]) for part in ("overall", "recent") if part in c}
    if top := c.get("smoothed_highest"):
        low, high = top["step_interval"]
        told["smoothed_highest"] = f"{_at(top)} (between {low:.0f} and {high:.0f})"
    if begun := c.get("onset"):
        low, high = begun["interval"]
        told["onset"] = f"{begun['kind']} of {_raw(begun['size'], '')} at step {begun['step']:.0f} (between {low:.0f} and {high:.0f})"
    told["levels"] = "; ".join(
        f"{_raw(p['before'], '')} → {_raw(p['after'], '')} at {p['step']:.0f}" for p in c.get("change_points", ())[:5]
    )
    pace = c.get("rate", {}).get("pace")
    told |= {part: c.get(part) for part in ("noise", "not_finite", "note", "usual")} | {"pace": None if pace == "undecidable" else pace}
    points = c["sketch"]
    thin = points if c["points"] <= len(points) else [*points[:-1:2], points[-1]]
    told["means" if c["points"] > len(points) else "raw"] = f"steps {thin[0][0]}-{thin[-1][0]}: {' '.join(_raw(v, '') for _, v in thin)}"
    return told | ({"newest": " ".join(_raw(v, "") for _, v in c["newest"])} if thin is not points else {})


def _at(point: Answer) -> str:
    return f"{_raw(point['value'], '')} at step {point['step']:.0f}"


def _way(found: Answer) -> str:
    """A direction with its change and interval, and what could have been seen where none is told."""
    low, high = found["interval"]
    since = f" since step {found['from_step']:.0f}" if "from_step" in found else ""
    unseen = f"; less than {_raw(found['detectable_change'], '')} would not show" if found.get("detectable_change") else ""
    return f"{found['direction']}{since}: {_raw(found['change'], '')} [{_raw(low, '')}, {_raw(high, '')}]{unseen}"


def _checked(answer: Answer) -> Answer:
    """Faults and notes whole; of what is given without a fault, and of what is not given, the names."""
    told = {kind: [c for c in answer["checks"] if c["outcome"] == kind] for kind in ("fault", "note", "fine", "not_given")}
    names = {kind: [c["check"] for c in told[kind]] for kind in ("fine", "not_given")}
    return answer | {"checks": told["fault"] + told["note"], "no_fault_in": names["fine"], "not_given": names["not_given"]}


BRIEFS: dict[str, tuple[Callable[[Answer], Answer] | None, int, str]] = {
    "check": (_checked, 4500, "checks"),
    "assess": (_assess, 3600, "story"),
    "curves": (_measured, 6000, "metrics"),
    "load": (_load, 2000, "steps"),
    "samples": (_samples, 3000, "statistics"),
}
"""What makes the brief of a verb, its characters as JSON, and what an answer about one run holds and a table of runs does not."""
