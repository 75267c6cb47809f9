"""The assessment as Markdown, for pull requests and chats. Nothing is computed here; every number stands in the assessment."""

import re
from collections.abc import Sequence
from typing import Any

from rl_advisor.answers.checklist import deliverables
from rl_advisor.answers.story.naming import named, named_story
from rl_advisor.answers.story.quantities import label
from rl_advisor.answers.story.telling import Story, tell
from rl_advisor.assessment import Assessment, FindingView
from rl_advisor.finding import number
from rl_advisor.output.layout import spark
from rl_advisor.output.wording import listed, plain, sentence, value
from rl_advisor.reports.html.curves import drawn
from rl_advisor.reports.html.gpu import SMALL, phases
from rl_advisor.reports.html.order import in_order, is_first
from rl_advisor.reports.html.samples import triad
from rl_advisor.reports.html.sections import told
from rl_advisor.run import Run
from rl_advisor.samples.excerpts import excerpt

SUFFIX = ".md"
SHORT = (160, 60)
"""Characters of a sample that are shown, of its begin and its end."""
SHOWN = 20
"""Curves named in the table of what was read; the rest is counted."""


def render(run: Run, assessment: Assessment) -> str:
    """The report: verdict, call and the story with its sparklines; then curves, evidence, samples, the next test, what was checked."""
    told_of = tell(run, assessment)
    a, story = named(assessment, told_of.names), named_story(told_of)
    parts = [
        f"# {inert(a.run or 'run')}: {a.verdict.replace('_', ' ')}, {a.call}",
        f"{inert(story.progress)}. {inert(story.call)} ({inert(story.verdict.partition(' (')[2])}",
        inert(story.words),
        _story(a, story),
        _sparklines(story),
        _section("Curves", [f"- {inert(label(d.curve))}: {inert(told(d))}" for d in drawn(run, assessment)]),
        _timeline(a),
        _section("Evidence", [_line(f, a) for f in in_order(a, "present")]),
        _section("Samples", _samples(run)),
        _section("GPU time", _gpu(run)),
        _experiment(a),
        _section("Could not be decided", [_line(f, a) for f in in_order(a, "unclear")]),
        _section("Ruled out", [f"- {inert(line)}" for line in a.ruled_out]),
        _section("Could not be seen", [f"- {inert(line)}" for line in a.could_not_see]),
        _section("What was read", _read(run)),
        _section("Reproducibility checklist", _deliverables(run, a)),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _story(a: Assessment, story: Story) -> str:
    """What to do, what broke, what came of it, what to keep."""
    rows = (
        ("Do now", story.do),
        ("Why", sentence(a.why)),
        ("Cause", story.cause),
        ("Effect", listed(list(story.effects), 4)),
        ("Score", "; ".join(story.outcome)),
        ("Keep", story.keep),
        ("At odds", "; ".join(story.at_odds[:2])),
        ("Not logged", listed(list(story.not_logged), 4)),
    )
    return "\n".join(f"- **{name}**: {inert(said)}" for name, said in rows if said)


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


def _timeline(a: Assessment) -> str:
    """The present findings that have an onset: what broke first, then in the order of their onsets."""
    dated = [f for f in in_order(a, "present") if f.onset]
    lines = [f"| {(f.onset or {})['step']:g} | {plain(f.link)} | {plain(f.pattern)} |" for f in dated]
    return _section("What moved when", ["| step | stage | finding |", "|---|---|---|", *lines]) if lines else ""


def _line(f: FindingView, a: Assessment) -> str:
    first = "first break: " if is_first(f, a) else ""
    where = ", ".join(f"{e['metric']} {e['first_step']:g} to {e['last_step']:g}" for e in f.evidence)
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
    return [*period, f"- {shares}", *(f"- cannot tell: {inert(line)}" for line in found["cannot_tell"])]


def _read(run: Run) -> list[str]:
    names = sorted(n for n, c in run.curves.items() if c.mapped)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [
        f"- framework: {', '.join(run.frameworks) or 'not recognised'}; formats: {', '.join(run.formats)}; {len(run.files)} files",
        f"- curves: {inert(', '.join(names[:SHOWN]))}{more}; {len(run.curves) - len(names)} without a known meaning",
        f"- samples: {len(run.rollouts)}; telemetry rows: {len(run.telemetry)}; checkpoints: {len(run.checkpoints)}",
    ]


def _deliverables(run: Run, a: Assessment) -> list[str]:
    return [f"- [{'x' if found else ' '}] {name}" for name, found in deliverables(run, a)]


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def compared(_: Sequence[Run], answer: dict[str, Any]) -> str:
    """Several runs: what they say together, then variants, runs and settings as tables."""
    said = [f"- {p['a']} and {p['b']}: {inert(p['said'])}" for p in answer["between"]] + [f"- {inert(n)}" for n in answer["notes"]]
    variants = [[v["variant"], str(len(v["runs"])), *(_estimate(v.get(field)) for field in ("last", "best"))] for v in answer["variants"]]
    fields = ("run", "variant", "verdict", "first_broken_link", "start", "best", "best_step", "last")
    runs = [[number(r[f]) if isinstance(r.get(f), float) else inert(str(r.get(f, "not known"))) for f in fields] for r in answer["runs"]]
    settings = [[inert(key), *(inert(str(v)) for v in values)] for key, values in answer["settings_that_differ"].items()]
    parts = [
        f"# {len(answer['runs'])} runs side by side",
        "\n".join(said),
        _section("Seeds of each variant together", _table(("variant", "seeds", "last level", "best level"), variants)),
        _section("Runs", _table(tuple(f.replace("_", " ") for f in fields), runs)),
        _section("Settings that differ", _table(("setting", *(inert(r["run"]) for r in answer["runs"])), settings)),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _estimate(e: dict[str, float] | None) -> str:
    return f"{number(e['value'])} ({number(e['low'])} to {number(e['high'])})" if e else "not known"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, empty without rows."""
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows)] if rows else []
