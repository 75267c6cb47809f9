"""The assessment as one self-contained HTML page: it loads nothing, runs one script of ours, and shows a run's words as words."""

from collections.abc import Mapping, Sequence

import numpy as np

from rl_advisor.answers.comparable import common
from rl_advisor.answers.document import of_several
from rl_advisor.answers.document.blocks import Facts
from rl_advisor.answers.document.curves import Frame, drawn, leading, payload
from rl_advisor.answers.document.of_run import sections, story_rows
from rl_advisor.answers.reports.html.page import asset, locked, section, titled
from rl_advisor.answers.reports.html.parts import html_of
from rl_advisor.answers.reports.html.pictures import Line, Mark, Panel, drawing
from rl_advisor.answers.reports.html.words import plain, text
from rl_advisor.answers.story.telling import in_own_names
from rl_advisor.finding import Assessment
from rl_advisor.output import Answer
from rl_advisor.output.wording import WORDS, value
from rl_advisor.run import Run

SUFFIX = ".html"
COLOURS = 8
"""Variants that have a colour and a dash of their own, those that end highest; the table of runs says which is which."""


def render(run: Run, assessment: Assessment) -> str:
    """The page: verdict and call, then what broke first, curves, findings, samples, what was ruled out or not seen, the next test."""
    (a, story), curves = in_own_names(run, assessment), drawn(run, assessment)
    held = sections(run, a, curves)
    nav = "".join(f'<li><a href="#{s.key}">{s.title}</a></li>' for s in held)
    tools = asset("tools.html") if curves else ""
    main = f"{_verdict(run, a, story)}{tools}{''.join(map(section, held))}"
    title = f"{text(a.run or 'run', 100)}: {plain(a.verdict)}, {text(a.call)}"
    body = f'<nav aria-label="Contents"><ul>{nav}</ul></nav><main id="main">{main}</main>'
    return locked(title, WORDS["verdict"][a.verdict]["mood"], body, payload(run, a, curves))


def _verdict(run: Run, a: Assessment, story: Answer) -> str:
    """Verdict with how sure it is, the call and its reason; then the picture, and the story beside it."""
    where = " · ".join(text(part, 200) for part in (a.run or "run", story["progress"], story["framework"]) if part)
    words = f'<p class="summary">{text(a.words, 8000)}</p>' if a.words else ""
    sure, picture = story["verdict"].partition(" (")[2].rstrip(")"), _first_picture(run, a, story)
    beside = f'<div class="first{"" if picture else " alone"}">{picture}{html_of(Facts(story_rows(story)))}</div>'
    return (
        f'<header class="verdict {WORDS["verdict"][a.verdict]["mood"]}"><p class="eyebrow">{where}</p>'
        f'<h1><span class="word">{plain(a.verdict).capitalize()}</span> <span class="sure">{text(sure)}</span> '
        f'<span class="call">{text(a.call)}</span></h1><p class="lede">{text(story["call"])}</p>{words}{beside}</header>'
    )


def _first_picture(run: Run, a: Assessment, story: Answer) -> str:
    """The outcome and the cause's own metric over the run, with the break and the checkpoint to keep; empty where nothing can be drawn."""
    ends, panels = _ends([run.first_step], [run.last_step]), []
    for d in leading(run, a, story):
        q = d.quantity
        name = f'<li class="h0">{text(q.label, 80)} <b>{q.spelled(q.first)} → {q.spelled(q.last)}</b></li>'
        panels.append(Panel([Line(d.curve, "h0")], name, q.said, q.unit))
    return drawing(panels, ends, run.step_unit, _marks(a)) if panels else ""


def _marks(a: Assessment) -> list[Mark]:
    """The first break with its interval, and the checkpoint to keep."""
    best, broke = a.best_checkpoint, a.onset
    marks = [Mark(broke.step, f"first break {broke.step:.0f}", "at-break", (broke.low, broke.high))] if broke else []
    return [*marks, *([Mark(best.step, f"keep {best.step}", "at-best")] if best.path and best.step is not None else [])]


def _ends(first: Sequence[float], last: Sequence[float]) -> tuple[float, float]:
    return min(first), max(*last, min(first) + 1)


def compared(runs: Sequence[Run], answer: Answer) -> str:
    """The page on several runs: what differs first, then curves over each other, runs, variants and settings."""
    title = f"{len(runs)} runs side by side"
    ranked = sorted(answer["runs"], key=lambda r: -(r["final"] if r.get("final") is not None else -np.inf))
    letters = list(dict.fromkeys(r["variant"] for r in ranked))
    kinds = {r["run"]: f"c{i}" if (i := letters.index(r["variant"])) < COLOURS else "grey" for r in ranked}
    said = "".join(f'<p class="{kind}">{text(line)}</p>' for kind, part in (("lede", "said"), ("note", "notes")) for line in answer[part])
    head = f'<header class="verdict open"><h1><span class="word">{title}</span></h1>{said}</header>'
    over = _overlay(runs, answer, kinds)
    held = "".join(map(section, of_several.sections(answer, ranked, kinds)))
    return locked(title, "open", f'<main id="main">{head}{titled("curves", "Outcome over the run", over) if over else ""}{held}</main>')


def _overlay(runs: Sequence[Run], answer: Answer, kinds: Mapping[str, str]) -> str:
    """The compared curve of every run in one picture; empty where the runs do not compare."""
    able = zip(answer["runs"], common(runs).curves, strict=True)
    shown = [(row["run"], c) for row, c in able if c is not None and np.isfinite(c.value).sum() > 1]
    if not shown or answer["refused"]:
        return ""
    steps = [c.finite()[0] for _, c in shown]
    ends = _ends([s[0] for s in steps], [s[-1] for s in steps])
    frame = Frame.of([c for _, c in shown], ends)
    said = f"{answer['by']} of {len(shown)} runs, {value(frame.low)} to {value(frame.high)}, over steps {ends[0]:.0f} to {ends[1]:.0f}"
    lines = [Line(c, kinds[name], name) for name, c in sorted(shown, key=lambda pair: kinds[pair[0]] != "grey")]
    return drawing([Panel(lines, "", said)], ends, f"{answer['by']} over {runs[0].step_unit}", kind="overlay")
