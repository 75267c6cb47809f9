"""Why episodes failed, in sentences that every door shares: shares with intervals, the reward without what was lost, what to do first."""

from collections.abc import Iterator

from rl_advisor.output import Answer
from rl_advisor.output.wording import percent, value

_MOST = 4
"""Reasons that are named; the rest are few."""
_DO = {
    "infrastructure": "retry them or leave them out before advantages are computed, and look at what failed first",
    "grader": "repair the grader or its parser and score these again before training goes on",
    "tool misuse": "show the tools' arguments in the prompt, or let the tool say what it expects",
    "format": "show one full example of the form in the prompt; pay for the form only together with the answer",
    "truncation": "raise the limit of length or turns, or leave cut episodes out of the loss",
    "context overflow": "shorten what tools return, or give fewer turns",
    "looped": "end an episode where it begins to repeat itself, and keep the repeats out of the loss",
    "hacked": "close the hole in the check before anything else; what was learned from it stays",
}
"""What to do about a reason, where it is common."""
_COMMON = 0.1


def failure_lines(found: Answer) -> list[str]:
    """At most five sentences; none where no episode failed."""
    return list(_lines(found))[:5] if found.get("failed") else []


def _lines(found: Answer) -> Iterator[str]:
    reasons = found["reasons"]
    named = [f"{name} {percent(r['share'])} ({percent(r['low'])} to {percent(r['high'])})" for name, r in list(reasons.items())[:_MOST]]
    rest = sum(r["count"] for r in list(reasons.values())[_MOST:])
    yield f"{found['failed']} of {found['episodes']} episodes failed: {', '.join(named)}{f', other reasons {rest}' if rest else ''}"
    if "reward" in found:
        yield from _lost(found["reward"])
    for name, r in reasons.items():
        if name in _DO and name != "infrastructure" and r["share"] >= _COMMON:
            yield f"{name} in {r['count']}: {_DO[name]}"
    yield from _course(found["by_step"], reasons)


def _lost(reward: Answer) -> Iterator[str]:
    """What the infrastructure cost, and what became of the lost episodes."""
    share = f"{percent(reward['share_lost'])} of all, {percent(reward['low'])} to {percent(reward['high'])}"
    became = [f"{reward['scored']} were scored {value(reward['lost_mean'])} on average"] if "lost_mean" in reward else []
    became += [f"{reward['dropped']} have no reward" if reward["dropped"] else "none was dropped"]
    became += [f"{reward['trained_upon']} have an advantage, so they were trained upon"] if reward.get("trained_upon") else []
    mean = (
        f"; the mean reward is {value(reward['without'])} without them, {value(reward['as_logged'])} as logged"
        if "without" in reward
        else ""
    )
    shift = reward.get("baseline_shift")
    low = f", and they move the baseline of their groups by {value(shift)}" if shift else ""
    yield f"the infrastructure lost {reward['lost']} ({share}): {', '.join(became)}{mean}{low}: {_DO['infrastructure']}"


def _course(steps: list[Answer], reasons: Answer) -> Iterator[str]:
    """The reason, other than wrong answers, whose share of all episodes moved most from the first steps to the last."""
    moved = {name: steps[-1].get(name, 0.0) - steps[0].get(name, 0.0) for name in reasons if name in _DO}
    name = max(moved, key=lambda n: abs(moved[n]), default="")
    if name and abs(moved[name]) >= _COMMON:
        first, last = steps[0], steps[-1]
        yield (
            f"{name} went from {percent(first.get(name, 0.0))} of the episodes at step {value(first['step'])} "
            f"to {percent(last.get(name, 0.0))} at step {value(last['step'])}"
        )


def formula_lines(found: Answer) -> list[str]:
    """What the reward pays for, and how it treats right and wrong answers to one prompt, in at most three sentences."""
    return list(_formula(found))


def _sum(found: Answer) -> str:
    terms = [f"{value(t['weight'])}{_range(t)} * {t['what']}" for t in found["terms"]]
    least = 1e-3 * max(abs(t["weight"]) for t in found["terms"])
    return " + ".join([value(found["constant"])] * (abs(found["constant"]) > least) + terms)


def _range(term: Answer) -> str:
    low, high = value(term["low"]), value(term["high"])
    return f" ({low} to {high})" if low != high else ""


def _formula(found: Answer) -> Iterator[str]:
    if terms := found.get("terms"):
        kind = "reward =" if found["holds"] else "the reward goes with"
        explains = f"explains {percent(found['r2'])} on prompts that were not fitted, {found['episodes']} episodes"
        yield f"{kind} {_sum(found)}; {explains}"
        if len(found["beside_the_task"]) == len(terms) and found["holds"]:
            known = "being right earns nothing" if found["task_known"] else "whether that is the task, the samples do not say"
            yield f"{known}: take these out of the reward, or pay them only where the answer is right"
    for name, part in found.get("parts", {}).items():
        yield f"its part {name} = {_sum(part)}; explains {percent(part['r2'])}"
    if pairs := found.get("right_and_wrong"):
        bad = [f"{pairs[k]} {words}" for k, words in (("alike", "pay both alike"), ("upside_down", "pay the wrong one more")) if pairs[k]]
        if bad:
            yield f"of {pairs['prompts']} prompts with a right and a wrong episode {' and '.join(bad)}: read such a pair"


def credit_lines(found: Answer) -> list[str]:
    """Where credit goes wrong inside episodes, in at most four sentences, and what cannot be told."""
    lines = list(_credit(found))[:4]
    if found.get("cannot_tell"):
        lines.append(f"cannot be told from this dump: {'; '.join(found['cannot_tell'][:3])}")
    return lines


def _credit(found: Answer) -> Iterator[str]:
    if c := found.get("certain"):
        yield (
            f"failure was certain from turn {value(c['turn'])} on (the middle of {c['episodes']} failed episodes going one way together "
            f"while another way succeeded), "
            f"with {percent(c['left'])} of their turns still to come"
        )
    if (p := found.get("paid_errors")) and p["low"] > 0.5:
        share = f"{percent(p['share_positive'])} ({percent(p['low'])} to {percent(p['high'])})"
        yield f"{share} of {p['failed_calls']} turns whose call failed are still rewarded: give credit by turn, or mask these"
    masks = found.get("masks", {})
    if masks.get("others_trained_upon", 0) > 0.01:
        yield f"{percent(masks['others_trained_upon'])} of the turns that tools or users wrote stand in the loss: mask them"
    if masks.get("own_left_out", 0) > 0.5:
        yield f"{percent(masks['own_left_out'])} of the model's own turns are left out of the loss"
    if (v := found.get("versions")) and v["share_mixed"] > 0.01:
        yield f"{percent(v['share_mixed'])} of the episodes were written by several policy versions, at most {value(v['widest'])} apart"
    if ages := found.get("ages"):
        yield (
            f"the episodes of one step were written by policies up to {value(ages['widest'])} versions apart "
            f"({value(ages['first'])} on average at first, {value(ages['latest'])} lately)"
        )
    if (lp := found.get("logprobs")) and lp["above_zero"] + lp["exactly_zero"] > 0.01:
        yield f"{percent(lp['above_zero'] + lp['exactly_zero'])} of the turns have log-probabilities that cannot be (0 or above)"
    if (u := found.get("upside_down")) and u["share"] > 0.05:
        yield f"{percent(u['share'])} of {u['episodes']} episodes have an advantage against their reward's side of the group's mean"
