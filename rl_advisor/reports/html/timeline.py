"""What broke first, as a picture: the links of the loop outside in, and on each the onsets of its findings with their intervals."""

from rl_advisor.assessment import Assessment, FindingView
from rl_advisor.reports.html.order import is_first
from rl_advisor.reports.html.words import plain, span, text
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

WIDE = 1000
"""Units of a track; it is stretched to the width there is."""


def timeline(run: Run, a: Assessment, keys: dict[str, str]) -> str:
    """One row a link, in the order in which to suspect them; ``keys`` gives each pattern's anchor."""
    first, last = run.first_step, max(run.last_step, run.first_step + 1)
    rows = "".join(_row(link.value, a, keys, (first, last)) for link in Link)
    ticks = "".join(f"<span>{first + (last - first) * share:.0f}</span>" for share in (0, 0.25, 0.5, 0.75, 1))
    return (
        f'<p class="lead">{_lead(a)}</p><ol class="loop" aria-label="Links of the training loop, outside in">{rows}</ol>'
        f'<div class="ticks" aria-hidden="true">{ticks}</div><p class="note">From left to right: {text(run.step_unit)}; '
        "a bar is the interval in which the change began, a dot its likeliest step.</p>"
    )


def _lead(a: Assessment) -> str:
    """The first break in one line; that none was found is said of what was logged, and of nothing else."""
    if a.first_broken_link == "none":
        return "No break was found on the links that are logged."
    when = f" at {span(a.onset.low, a.onset.high)}" if a.onset else ", at a step that the log does not tell"
    what = next((f": {plain(f.pattern)}" for f in a.findings if is_first(f, a)), "")
    return f"<b>{plain(a.first_broken_link).capitalize()}</b>{when}{what}."


def _row(link: str, a: Assessment, keys: dict[str, str], ends: tuple[float, float]) -> str:
    here = [f for f in a.findings if f.link == link]
    present = sorted((f for f in here if f.outcome == "present"), key=lambda f: f.onset["step"] if f.onset else float("inf"))
    broken = a.first_broken_link == link
    badge = ' <strong class="badge">first break</strong>' if broken else ""
    named = "".join(f'<li><a href="#{keys[f.pattern]}">{plain(f.pattern)}</a> <span>{_when(f)}</span></li>' for f in present)
    body = f'<ul class="onsets">{named}</ul>' if named else f'<p class="quiet">{_quiet(here)}</p>'
    kind = "link broken" if broken else "link moved" if present else "link"
    return f'<li class="{kind}"><h3>{plain(link)}{badge}</h3>{_track(present, a if broken else None, ends)}{body}</li>'


def _when(f: FindingView) -> str:
    return f"{span(f.onset['low'], f.onset['high'])}" if f.onset else "no date"


def _quiet(here: list[FindingView]) -> str:
    """What can be said of a link on which nothing was found; never that it is fine when it was not logged."""
    count = {o: sum(f.outcome == o for f in here) for o in ("absent", "unclear", "not_logged")}
    said = [f"{count['absent']} ruled out"] if count["absent"] else []
    said += [f"{count['unclear']} unclear"] if count["unclear"] else []
    said += [f"{count['not_logged']} not logged"] if count["not_logged"] else []
    return ", ".join(said) or "nothing looks here"


def _track(present: list[FindingView], judged: Assessment | None, ends: tuple[float, float]) -> str:
    marks = "".join(_mark(f.onset["low"], f.onset["high"], f.onset["step"], "mark", ends) for f in present if f.onset)
    if judged is not None and judged.onset is not None:
        marks += _mark(judged.onset.low, judged.onset.high, judged.onset.step, "mark first", ends)
    return (
        f'<svg class="track" viewBox="0 0 {WIDE} 20" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<path class="rail" d="M0 10H{WIDE}"/>{marks}</svg>'
    )


def _mark(low: float, high: float, step: float, kind: str, ends: tuple[float, float]) -> str:
    a, b, at = (min(WIDE, max(0.0, WIDE * (s - ends[0]) / (ends[1] - ends[0]))) for s in (low, high, step))
    return f'<g class="{kind}"><path class="bar" d="M{a:.1f} 10H{max(b, a + 0.1):.1f}"/><path class="dot" d="M{at:.1f} 10h.01"/></g>'
