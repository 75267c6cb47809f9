"""The GPUs' time on the terminal: the sentence first, then phases in units that people read, then what cannot be told."""

from collections.abc import Iterable
from typing import Any

from rl_advisor.gpu.sentence import seconds_of
from rl_advisor.output.layout import Answer, filled, gaps, said, table

HEADS = ("phase", "share", "a step", "power", "busy", "memory", "energy a step", "a 1000 tokens", "sure")


def gpu_page(answer: Answer) -> Iterable[str]:
    """The answer of ``gpu`` line by line."""
    yield from filled(answer["says"])
    if not answer["phases"] and not answer["gpus"]:
        return
    yield ""
    period = f", a step takes {seconds_of(answer['step_period_s'])}" if answer["step_period_s"] else ""
    yield f"{answer['gpus']} GPU(s) over {seconds_of(3600 * answer['hours'])}{period}" if answer["gpus"] else f"timers only{period}"
    rows = [_row(p) for p in answer["phases"]]
    kept = [i for i, head in enumerate(HEADS) if head == "phase" or any(row[i] for row in rows)]
    yield from table([tuple(HEADS[i] for i in kept)], [tuple(row[i] for i in kept) for row in rows])
    yield from _idle(answer["idle"])
    if answer["headroom_gib"] is not None:
        yield f"memory never used: {answer['headroom_gib']:.1f} GiB"
    yield from (line for row in answer["cannot_tell"] for line in filled(f"cannot tell: {said(row)}"))
    yield from gaps(answer)


def _row(p: Answer) -> tuple[str, ...]:
    share = f"{100 * p['share']:.0f} %"
    if p["share_high"] - p["share_low"] > 0.005:
        share += f" ({100 * p['share_low']:.0f} to {100 * p['share_high']:.0f})"
    joules, tokens = p["energy_j_per_step"], p["energy_j_per_1000_tokens"]
    return (
        p["name"],
        share,
        seconds_of(p["seconds_per_step"]) if p["seconds_per_step"] is not None else "",
        _of(p["power_w"], "W"),
        _of(None if p["utilization"] is None else 100 * p["utilization"], "%"),
        _of(p["memory_gib"], "GiB", 1),
        _of(None if joules is None else joules / 1000, "kJ", 2),
        _of(tokens, "J"),
        p["confidence"],
    )


def _of(value: float | None, unit: str, decimals: int = 0) -> str:
    return "" if value is None else f"{value:.{decimals}f} {unit}"


def _idle(stretches: list[Any]) -> Iterable[str]:
    """Idle stretches counted by their place in the step."""
    listed = [s for s in stretches if "start" in s]
    for where in dict.fromkeys(s.get("where", "somewhere") for s in listed):
        some = [s["seconds"] for s in listed if s.get("where", "somewhere") == where]
        span = seconds_of(min(some)) if min(some) == max(some) else f"{seconds_of(min(some))} to {seconds_of(max(some))}"
        yield f"idle {where}: {len(some)} stretches of {span}, {seconds_of(sum(some))} in all"
    yield from (f"idle besides: {s['more']} shorter stretches, {seconds_of(s['seconds'])} in all" for s in stretches if "more" in s)
