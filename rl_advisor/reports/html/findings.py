"""The findings as cards, each with its statement, its measures and links to the curve or samples it rests on."""

from rl_advisor.answers.story.chain import chain
from rl_advisor.answers.story.quantities import label
from rl_advisor.assessment import Assessment, FindingView
from rl_advisor.reports.html.curves import Drawn
from rl_advisor.reports.html.order import in_order, is_first
from rl_advisor.reports.html.sections import OPEN
from rl_advisor.reports.html.words import figures, plain, span, text

SHOWN = 6
"""Findings that are there and seen without unfolding: the cause and what followed."""


def anchors(a: Assessment) -> dict[str, str]:
    """Pattern -> its anchor in the page."""
    return {f.pattern: f"finding-{i}" for i, f in enumerate(a.findings)}


def cards(a: Assessment, outcome: str, curves: list[Drawn], *, samples: bool, gpu: bool) -> str:
    """The findings of one outcome, the less telling ones folded; links only to parts of the page that exist."""
    places = {d.curve.name: (d.key, label(d.curve)) for d in curves}
    places |= ({"rollouts": ("samples", "samples")} if samples else {}) | ({"telemetry": ("gpu", "GPU time")} if gpu else {})
    keys = anchors(a)
    told = in_order(a, outcome)
    if outcome == "present":
        known = chain(a)
        foremost = [f for f in (known.cause, *known.effects, *known.open) if f is not None]
        told = foremost + [f for f in told if f not in foremost]
    made = [_card(f, keys[f.pattern], places, first=is_first(f, a)) for f in told]
    shown = SHOWN if outcome == "present" else OPEN
    more = f'<details class="fold"><summary>{len(made) - shown} more</summary>{_grid(made[shown:])}</details>' if made[shown:] else ""
    return _grid(made[:shown]) + more if made else ""


def _grid(made: list[str]) -> str:
    return f'<div class="findings">{"".join(made)}</div>'


def _card(f: FindingView, key: str, places: dict[str, tuple[str, str]], *, first: bool) -> str:
    when = f' <span class="when">began at {_began(f.onset)}</span>' if f.onset else ""
    badge = ' <strong class="badge">first break</strong>' if first else ""
    look = "".join(_evidence(e, places) for e in f.evidence)
    look = f'<p class="look">Look at: {look}</p>' if look else ""
    return (
        f'<article class="finding" id="{key}" tabindex="-1"><h3>{plain(f.pattern)}{badge}</h3>'
        f'<p class="meta"><span class="chip">{plain(f.link)}</span>{when}</p><p>{text(f.statement)}</p>{look}{_measures(f)}</article>'
    )


def _began(onset: dict[str, float]) -> str:
    exact = round(onset["low"]) == round(onset["high"])
    return f"step {onset['step']:.0f}" + ("" if exact else f" (between {onset['low']:.0f} and {onset['high']:.0f})")


def _evidence(e: dict[str, float | str], places: dict[str, tuple[str, str]]) -> str:
    name, low, high = str(e["metric"]), float(e["first_step"]), float(e["last_step"])
    said = f"{text(places.get(name, ('', name))[1], 200)}, {span(low, high)}"
    if name not in places:
        return f'<span class="evidence">{said}</span>'
    return f'<a class="evidence" href="#{places[name][0]}" data-first="{low:g}" data-last="{high:g}">{said}</a>'


def _measures(f: FindingView) -> str:
    known = [(n, v) for n, v in f.measures.items() if v is not None]
    if not known:
        return ""
    rows = "".join(f"<div><dt>{plain(n)}</dt><dd>{figures(v)}</dd></div>" for n, v in known)
    return f'<details><summary>Measures</summary><dl class="measures">{rows}</dl></details>'
