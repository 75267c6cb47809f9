"""The findings as cards, each with its statement, its measures, the curve it rests on and links to where else to look."""

from rl_advisor.answers.story.quantities import label
from rl_advisor.assessment import Assessment, FindingView
from rl_advisor.reports.html.curves import Drawn
from rl_advisor.reports.html.order import foremost, in_order, is_first
from rl_advisor.reports.html.sections import OPEN, figure
from rl_advisor.reports.html.words import figures, plain, prose, span, text

SHOWN = 6
"""Findings that are there and seen without unfolding: the cause and what followed."""


def anchors(a: Assessment) -> dict[str, str]:
    """Pattern -> its anchor in the page."""
    return {f.pattern: f"finding-{i}" for i, f in enumerate(a.findings)}


def evidence(a: Assessment, curves: list[Drawn], *, samples: bool, gpu: bool) -> tuple[str, set[str]]:
    """The findings that are there, the cause first, each with the curve that it rests on, and the keys of the curves shown so."""
    told = foremost(a)
    look = _Look(curves, anchors(a), a, samples=samples, gpu=gpu)
    used: set[str] = set()
    rows = []
    for f in told[:SHOWN]:
        d = look.first_of(f, used)
        used |= {d.key} if d else set()
        rows.append(look.card(f, figure(d) if d else ""))
    rest = "".join(look.card(f) for f in told[SHOWN:])
    more = f'<details class="fold"><summary>{len(told) - SHOWN} more</summary><div class="findings">{rest}</div></details>' if rest else ""
    return _grid(rows) + more if rows else "", used


def cards(a: Assessment, outcome: str, curves: list[Drawn], *, samples: bool, gpu: bool) -> str:
    """The findings of one outcome, the less telling ones folded; links only to parts of the page that exist."""
    look = _Look(curves, anchors(a), a, samples=samples, gpu=gpu)
    made = [look.card(f) for f in in_order(a, outcome)]
    more = f'<details class="fold"><summary>{len(made) - OPEN} more</summary>{_grid(made[OPEN:])}</details>' if made[OPEN:] else ""
    return _grid(made[:OPEN]) + more if made else ""


def _grid(made: list[str]) -> str:
    return f'<div class="findings">{"".join(made)}</div>'


class _Look:
    """Where on the page evidence can be looked at."""

    def __init__(self, curves: list[Drawn], keys: dict[str, str], a: Assessment, *, samples: bool, gpu: bool) -> None:
        self.curves, self.keys, self.a = {d.curve.name: d for d in curves}, keys, a
        self.places = {d.curve.name: (d.key, label(d.curve)) for d in curves}
        self.places |= ({"rollouts": ("samples", "samples")} if samples else {}) | ({"telemetry": ("gpu", "GPU time")} if gpu else {})

    def first_of(self, f: FindingView, used: set[str]) -> Drawn | None:
        """The first curve of a finding's evidence that does not stand on the page yet."""
        cited = (self.curves.get(str(e["metric"])) for e in f.evidence)
        return next((d for d in cited if d is not None and d.key not in used), None)

    def card(self, f: FindingView, picture: str = "") -> str:
        """A finding with its links, and the picture beside it where there is one."""
        when = f' <span class="when">began at {_began(f.onset)}</span>' if f.onset else ""
        badge = ' <strong class="badge">first break</strong>' if is_first(f, self.a) else ""
        links = "".join(_evidence(e, self.places) for e in f.evidence)
        look = f'<p class="look">Look at: {links}</p>' if links else ""
        said = (
            f'<h3>{plain(f.pattern)}{badge}</h3><p class="meta"><span class="chip">{plain(f.link)}</span>{when}</p>'
            f"<p>{prose(f.statement)}</p>{look}{_measures(f)}"
        )
        return f'<article class="finding" id="{self.keys[f.pattern]}" tabindex="-1">{said}{picture}</article>'


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
