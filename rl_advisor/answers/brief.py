"""Answers for a language model by value a character: what decides comes first, what is the same for every run stays out.

Each takes the full answer of a verb and gives the part that a second look is chosen by; the whole is one call away.
"""

from collections.abc import Callable
from typing import Any

import orjson

from rl_advisor.output.budget import fit
from rl_advisor.output.wording import chance, value

Answer = dict[str, Any]
LONGEST = {"assess": 3600, "load": 2000, "samples": 3000}
"""Characters of each brief as JSON."""
RUN_OF = {"assess": "story", "load": "steps", "samples": "statistics"}
"""What an answer about one run holds, and a table of runs does not."""
EVIDENCE, AT_ODDS, METRICS, UNMAPPED, SPOKEN = 3, 3, 30, 12, 260


def characters(value: Any) -> int:
    """How long a value is as JSON."""
    return len(orjson.dumps(value))


def brief(kind: str, answer: Answer) -> Answer:
    """The short form of an answer, within its characters; an answer without one is given back as it is."""
    make = BRIEFS.get(kind)
    if make is None or RUN_OF[kind] not in answer:
        return answer  # a table of several runs is short as it is
    return fit(_bare(make(answer)), LONGEST[kind], characters)


def _bare(found: Any) -> Any:
    """A value without what is empty, numbers to three digits."""
    if isinstance(found, dict):
        return {k: v for k, part in found.items() if (v := _bare(part)) not in (None, "", [], {})}
    if isinstance(found, list):
        return [_bare(part) for part in found]
    return float(f"{found:.3g}") if isinstance(found, float) and abs(found) < 1e6 and found != int(found) else found


def _assess(answer: Answer) -> Answer:
    """Verdict, call and reasons; the chain; evidence on both sides; settings; raw points; what is missing; where to look next."""
    story = answer["story"]
    ours, sure = answer["verdict"], answer["confidence"]
    likely = sorted(answer["probabilities"].items(), key=lambda item: -item[1])
    return {
        "run": answer["run"],
        "at": f"{story['progress']}, {story['framework']}" if story["framework"] else story["progress"],
        "verdict": ours,
        "confidence": sure,
        "probabilities": {v: chance(p, sure) for v, p in likely[:4] if p >= 0.02 and len(likely) > 1},
        "why": answer["why"],
        "words": story["words"],
        "call": answer["call"],
        "call_reason": answer["call_reason"],
        "p_continue_pays": answer["p_continue_pays"],
        "first_broken_link": answer["first_broken_link"],
        "cause": story["cause"],
        "onset": answer["onset"],
        "effects": story["effects"],
        "also_present": [line[:SPOKEN] for line in story["also"]],
        "at_odds": story["at_odds"][:AT_ODDS],
        "evidence_for": [_cut(e) for e in answer["evidence"] if e["for"] == ours and e["weight"] > 0][:EVIDENCE],
        "evidence_against": [_cut(e) for e in answer["evidence"] if (e["for"] == ours) == (e["weight"] < 0)][:EVIDENCE],
        "rivals": [f"{r['verdict']} {chance(r['p'], sure)}: {r['against']}"[:SPOKEN] for r in story["rivals"]],
        "keep": story["keep"],
        "risk": answer["risk"],
        "do": story["do"],
        "settings": "; ".join(f"{k} {v}" for k, v in story["settings"].items()),
        "curves": [_curve(q) for q in story["curves"][:6]],
        "unmapped_moved": story["unnamed"],
        "not_logged": story["not_logged"][:3],
        "unclear_patterns": story["unclear"],
        "next_call": story["next_call"],
        "names_as_written": answer.get("names_as_written"),
    }


def _cut(e: Answer) -> str:
    steps = f" (steps {e['steps'][0]:.0f}-{e['steps'][1]:.0f})" if e.get("steps") else ""
    return f"{e['says'][:SPOKEN]}{steps}"


def _curve(q: Answer) -> Answer:
    """A curve as raw points ``step:value``: a dozen over the run, then the newest five."""
    newest = " ".join(_point(p, q["unit"]) for p in q["recent"])
    seen = {"curve": q["label"], "is": q["metric"] if q["metric"] != q["label"] else None, "points": q["points"]}
    sketch = [_point(p, q["unit"]) for p in q["sketch"]]
    return seen | {"raw": " ".join(sketch), "last5": newest if q["points"] > len(sketch) else None}


def _point(p: list[float], unit: str) -> str:
    return f"{p[0]:.0f}:{value(p[1], '' if unit == 'share' else unit, 3)}"


def _load(answer: Answer) -> Answer:
    """What the run is, the settings that matter, its metrics under both names, what is there besides, what could not be read."""
    steps, samples, saved = answer["steps"], answer["rollouts"], answer["checkpoints"]
    metrics = [
        f"{m['raw']} = {m['name']} ({m['points']})" if m["raw"] != m["name"] else f"{m['name']} ({m['points']})" for m in answer["metrics"]
    ]
    return {
        "run": answer["run"],
        "runs": answer.get("runs"),
        "frameworks": answer["frameworks"],
        "steps": f"{steps['first']:g} to {steps['last']:g} of {steps['planned'] or 'an unknown plan'}, {steps['unit']}",
        "settings": answer.get("settings"),
        "samples": f"{samples['count']} at {len(samples['steps'])} steps" if samples["count"] else "none",
        "checkpoints": [c["step"] for c in saved],
        "events": answer["events"][:3],
        "gaps": answer["gaps"][:4],
        "unmapped": answer["unmapped"][:UNMAPPED],
        "metrics": metrics[:METRICS],
        "telemetry": answer["telemetry"] if answer["telemetry"]["samples"] else None,
        "formats": answer["formats"],
        "unmapped_in_all": len(answer["unmapped"]),
        "settings_in_all": len(answer["config"]),
        "names_as_written": answer.get("names_as_written"),
    }


def _samples(answer: Answer) -> Answer:
    """What the samples say and what changed, one sample of each kind in its envelope, how the reward is made, few statistics over steps."""
    one = {
        kind: [_sample(s) for s in answer.get(kind, [])[:n]]
        for kind, n in (("highest", 1), ("lowest", 1), ("random", 1), ("newest_failures", 1))
    }
    pairs = {
        kind: [{side: _sample(s) for side, s in pair.items()} for pair in answer.get(kind, [])[:1]]
        for kind in ("contrast", "contradicting", "early_late")
    }
    return {
        "run": answer["run"],
        "responses": answer["responses"],
        "says": [f"{s['pattern']} ({s['outcome']}): {s['statement']}"[:SPOKEN] for s in answer["says"][:6]],
        "changes": [_change(m) for m in answer["changes"].get("measures", [])[:6]],
        "reward": _reward(answer["reward"]),
        **one,
        **pairs,
        "over_steps": _over_steps(answer["statistics"]),
        "gaps": answer["gaps"][:2],
        "names_as_written": answer.get("names_as_written"),
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
    kept: Answer = {
        k: found[k] for k in ("groups", "against_length", "against_consensus", "length_by_decile", "same_text", "cannot_tell") if k in found
    }
    h = found.get("histogram")
    spread = (
        f"{value(h['min'])} to {value(h['max'])}, median {value(h['median'])}, {value(h['share_at_max'], 'share')} at the top" if h else ""
    )
    if "length_by_decile" in kept:
        kept["length_by_decile"] = " ".join(f"{value(d['reward'])}:{value(d['tokens'])}" for d in kept["length_by_decile"])
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


BRIEFS: dict[str, Callable[[Answer], Answer]] = {"assess": _assess, "load": _load, "samples": _samples}
