"""The assessment as Markdown, for pull requests and chats. Nothing is computed here; every number stands in the assessment."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rl_advisor.answers.checklist import deliverables
from rl_advisor.answers.compare import spelled, spelled_levels
from rl_advisor.answers.story.naming import named, named_story
from rl_advisor.answers.story.quantities import label
from rl_advisor.answers.story.telling import Story, tell
from rl_advisor.assessment import Assessment, FindingView
from rl_advisor.finding import number
from rl_advisor.output.layout import spark
from rl_advisor.output.wording import plain, value
from rl_advisor.reports.html.curves import drawn
from rl_advisor.reports.html.gpu import SMALL, phases
from rl_advisor.reports.html.order import foremost, in_order, is_first
from rl_advisor.reports.html.samples import triad
from rl_advisor.reports.html.sections import counted, rows, sides, told
from rl_advisor.run import Run
from rl_advisor.samples.excerpts import excerpt

SUFFIX = ".md"
SHORT = (160, 60)
"""Characters of a sample that are shown, of its begin and its end."""
SHOWN = 6
"""Findings that are there and seen without unfolding."""
NAMED = 20
"""Curves named in the list of what was read; the rest is counted."""


def render(run: Run, assessment: Assessment) -> str:
    """The report: verdict, call, the story and its sparklines; evidence, curves, samples, the next test; what was looked at is folded."""
    told_of = tell(run, assessment)
    a, story = named(assessment, told_of.names), named_story(told_of)
    own = {c.name: label(c) for c in run.curves.values()}
    present = [_line(f, a, own) for f in foremost(a)]
    parts = [
        f"# {inert(a.run or 'run')}: {a.verdict.replace('_', ' ')}, {a.call}",
        f"{inert(story.progress)}. {inert(story.call)} ({inert(story.verdict.partition(' (')[2])}",
        inert(story.words),
        "\n".join(f"- **{name}**: {inert(said)}" for name, said in rows(story)),
        _sparklines(story),
        _section("Evidence", present[:SHOWN]),
        _fold(f"{len(present) - SHOWN} more", present[SHOWN:]),
        _section("Curves", [f"- {inert(label(d.curve))}: {inert(told(d.curve, run))}" for d in drawn(run, assessment)]),
        _section("Samples", _samples(run)),
        _section("GPU time", _gpu(run)),
        _experiment(a),
        _section("What was checked", [inert(counted(a))]),
        _fold("What moved when", _timeline(a)),
        _fold("What was weighed", [f"- {name.lower()}: {inert(line)}" for name, said in sides(a) for line in said]),
        _fold("Could not be decided", [_line(f, a, own) for f in in_order(a, "unclear")]),
        _fold("Ruled out", [f"- {inert(line)}" for line in a.ruled_out]),
        _fold("Could not be seen", [f"- {inert(line)}" for line in a.could_not_see]),
        _fold("What was read", _read(run)),
        _section("Reproducibility checklist", _deliverables(run, a)),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _fold(title: str, lines: list[str]) -> str:
    """Lines that are seen when they are asked for, where a page of Markdown can fold."""
    return f"<details><summary>{title}</summary>\n\n" + "\n".join(lines) + "\n\n</details>" if lines else ""


def _sparklines(story: Story) -> str:
    """The outcome and the cause's own metric as lines of blocks, in code, so that they keep their width."""
    rows = [f"{spark(list(q.blocks))} {value(q.last, q.unit):>8}  {_name(q.label)}" for q in story.curves[:3] if q.points > 1]
    return "```text\n" + "\n".join(rows) + "\n```" if rows else ""


def _name(label: str) -> str:
    """A metric's name with nothing in it that could end the code it stands in."""
    return re.sub(r"[^\w/.@ -]", "?", label)[:60]


def inert(text: str) -> str:
    """Text that Markdown leaves alone: no links, images, HTML, code or table cells can come out of a run's own words."""
    flat = re.sub(r"\s+", " ", text).replace("\\", "\\\\")
    return re.sub(r"([`*_\[\]<>|#!~])", r"\\\1", flat)


def _timeline(a: Assessment) -> list[str]:
    """The present findings that have an onset: what broke first, then in the order of their onsets."""
    dated = [f for f in in_order(a, "present") if f.onset]
    return _table(("step", "stage", "finding"), [(f"{(f.onset or {})['step']:.0f}", plain(f.link), plain(f.pattern)) for f in dated])


def _line(f: FindingView, a: Assessment, own: Mapping[str, str]) -> str:
    first = "first break: " if is_first(f, a) else ""
    where = ", ".join(f"{own.get(str(e['metric']), e['metric'])} {e['first_step']:.0f} to {e['last_step']:.0f}" for e in f.evidence)
    return f"- {first}**{plain(f.pattern)}** ({plain(f.link)}): {inert(f.statement)}" + (f" Look at: {inert(where)}." if where else "")


def _experiment(a: Assessment) -> str:
    e = a.next_experiment
    return f"## Next test\n\n{inert(e.do)}\n\n- If right: {inert(e.expect_if_right)}\n- If wrong: {inert(e.expect_if_wrong)}"


def _samples(run: Run) -> list[str]:
    """The triad, one sample a line."""
    return [_sample(title, row) for title, rows in triad(run) for row in rows]


def _sample(title: str, row: dict[str, Any]) -> str:
    """What was written stands as code, in which no page of Markdown follows a link or calls a person."""
    said = re.sub(r"\s+", " ", excerpt(row["response"], *SHORT)).replace("`", "'")
    reward = "no reward" if row["reward"] is None else f"reward {number(row['reward'])}"
    return f"- {title} ({reward}, step {row['step']:g}, {inert(row['source'])} row {row['row']}): `{said}`"


def _gpu(run: Run) -> list[str]:
    found = phases(run)
    if found is None:
        return []
    shares = ", ".join(f"{p['name']} {100 * p['share']:.0f} %" for p in found["phases"] if p["share"] > SMALL)
    period = [f"- one step takes {number(found['step_period_s'])} s on average"] if found["step_period_s"] else []
    return [f"- {inert(found['says'])}", *period, f"- {shares}", *(f"- cannot tell: {inert(line)}" for line in found["cannot_tell"])]


def _read(run: Run) -> list[str]:
    names = sorted(n for n, c in run.curves.items() if c.mapped)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return [
        f"- framework: {', '.join(run.frameworks) or 'not recognised'}; formats: {', '.join(run.formats)}; {len(run.files)} files",
        f"- curves: {inert(', '.join(names[:NAMED]))}{more}; {len(run.curves) - len(names)} without a known meaning",
        f"- samples: {len(run.rollouts)}; telemetry rows: {len(run.telemetry)}; checkpoints: {len(run.checkpoints)}",
    ]


def _deliverables(run: Run, a: Assessment) -> list[str]:
    return [f"- [{'x' if found else ' '}] {name}" for name, found in deliverables(run, a)]


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def compared(_: Sequence[Run], answer: dict[str, Any]) -> str:
    """Several runs: what differs first, then runs, variants and settings as tables."""
    variants = [
        [v["variant"], str(len(v["runs"])), *(_estimate(v[f]) for f in ("final", "best"))] for v in answer["variants"] if "final" in v
    ]
    fields = ("run", "variant", "verdict", "first_broken_link", "start", "best", "best_step", "last", "final")
    runs = [[spelled_levels(r).get(f) or _cell(r.get(f)) for f in fields] for r in answer["runs"]]
    settings = [[inert(key), *(inert(spelled(v)) for v in values)] for key, values in answer["settings_that_differ"].items()]
    parts = [
        f"# {len(answer['runs'])} runs side by side",
        "\n".join(f"- {inert(line)}" for line in (*answer["said"], *answer["notes"])),
        _section("Runs", _table(tuple(f.replace("_", " ") for f in fields), runs)),
        _section("Seeds of each variant together", _table(("variant", "seeds", "final level", "best"), variants)),
        _section("Settings that differ", _table(("setting", *(inert(r["run"]) for r in answer["runs"])), settings)),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _cell(x: Any) -> str:
    if isinstance(x, int | float):
        return f"{x:.0f}"
    return "" if x is None else inert(str(x))


def _estimate(e: dict[str, float]) -> str:
    return f"{value(e['value'])} ({value(e['low'])} to {value(e['high'])})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, empty without rows."""
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)] if rows else []
