"""Why episodes failed, what the reward pays for and where credit goes: the sentences of ``sentences.toml`` that every door shares."""

from rl_advisor.answers.templates import sentences
from rl_advisor.output import Answer
from rl_advisor.output.wording import value

_COMMON = 0.1
_VAGUE = ("wrong answer", "not told")
"""Reasons whose course says nothing."""


def failure_lines(found: Answer) -> list[str]:
    """At most five sentences; none where no episode failed."""
    return sentences("failures", found | {"moved": _moved(found)})[:5] if found.get("failed") else []


def _moved(found: Answer) -> Answer:
    """The reason whose share of all episodes moved most from the first steps to the last, where one moved far."""
    first, last = found["by_step"][0], found["by_step"][-1]
    ends = {name: (first.get(name, 0.0), last.get(name, 0.0)) for name in found["reasons"] if name not in _VAGUE}
    name = max(ends, key=lambda n: abs(ends[n][1] - ends[n][0]), default="")
    was, now = ends.get(name, (0.0, 0.0))
    return {"name": name, "was": was, "now": now, "first": first["step"], "last": last["step"]} if abs(now - was) >= _COMMON else {}


def formula_lines(found: Answer) -> list[str]:
    """What the reward pays for, and how it treats right and wrong answers to one prompt, in at most three sentences."""
    terms, pairs = found.get("terms", ()), found.get("right_and_wrong") or {}
    told = {
        "sum": _sum(found) if terms else "",
        "all_beside": bool(terms) and found["holds"] and len(found["beside_the_task"]) == len(terms),
        "parts": {name: part | {"sum": _sum(part)} for name, part in found.get("parts", {}).items()},
        "treated": [{how: pairs[how]} for how in ("alike", "upside_down") if pairs.get(how)],
    }
    return sentences("formula", found | told)


def _sum(found: Answer) -> str:
    terms = [f"{value(t['weight'])}{_range(t)} * {t['what']}" for t in found["terms"]]
    least = 1e-3 * max(abs(t["weight"]) for t in found["terms"])
    return " + ".join([value(found["constant"])] * (abs(found["constant"]) > least) + terms)


def _range(term: Answer) -> str:
    low, high = value(term["low"]), value(term["high"])
    return f" ({low} to {high})" if low != high else ""


def credit_lines(found: Answer) -> list[str]:
    """Where credit goes wrong inside episodes, in at most four sentences, and what cannot be told."""
    untold = found.get("cannot_tell", ())[:3]
    logged = found.get("logprobs", {"above_zero": 0, "exactly_zero": 0})
    lines = sentences("credit", found | {"impossible": logged["above_zero"] + logged["exactly_zero"]})[:4]
    return [*lines, *([f"cannot be told from this dump: {'; '.join(untold)}"] if untold else [])]
