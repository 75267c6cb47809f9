"""Answers as plain text for a terminal: what matters first, no decoration that a pipe would choke on."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from rl_advisor.answers.context import said as on_record
from rl_advisor.answers.terminal import answer_page, look_of_terminal
from rl_advisor.cli.asked import check_page, explained_page, preflight_page
from rl_advisor.cli.gpu import gpu_page
from rl_advisor.cli.samples import samples_page
from rl_advisor.output.layout import Answer, anything, filled, gaps, more, number, pairs, said, spark, table
from rl_advisor.output.wording import plain


def text(kind: str, answer: Answer, *, whole: bool = False) -> str:
    """The answer of a command as text; ``whole`` leaves nothing out of a judgement."""
    if kind in ("load", "assess") and isinstance(answer.get("runs"), list):
        return "\n".join(_runs(answer["runs"]))
    pages: dict[str, Callable[[Answer], Iterable[str]]] = {
        "load": _load,
        "curves": _curves,
        "samples": samples_page,
        "gpu": gpu_page,
        "critic": _critic,
        "assess": lambda a: answer_page(a, look_of_terminal(), whole=whole),
        "report": _report,
        "compare": _compare,
        "probe": _probe,
        "explain": explained_page,
        "check": check_page,
        "preflight": preflight_page,
    }
    lines = list(pages.get(kind, anything)(answer))
    lines += [f"{alias}: {said(words)}" for alias, words in answer.get("names_as_written", {}).items()]
    return "\n".join(lines)


def _runs(rows: list[Answer]) -> Iterable[str]:
    """Several runs, a line each."""
    yield f"{len(rows)} runs lie here, worst first; name one to read it."
    yield ""
    judged = any("verdict" in row for row in rows)
    names = (
        ("run", "verdict", "call", "p", "cause", "step", "outcome", "last") if judged else ("run", "metrics", "files", "outcome", "last")
    )
    head = [tuple("broke first" if name == "cause" else name for name in names)]
    kept = {"run", "outcome"}
    cells = [tuple("-" if row.get(n) is None else said(str(row[n])) if n in kept else _cell(row[n]) for n in names) for row in rows]
    yield from table(head, cells)
    yield from (line for row in rows if row.get("error") for line in filled(f"{said(row['run'])}: {said(row['error'])}"))


def _evaluated(protocol: Answer) -> str:
    """The evaluation protocol and what of it is not known."""
    known = [f"{part} {said(str(value))}" for part, value in protocol.items() if part != "missing"]
    missing = f"; not given: {', '.join(protocol['missing'])}" if protocol["missing"] else ""
    return f"evaluation settings: {', '.join(known)}{missing}" if known else "evaluation settings: not logged"


def _probe(answer: Answer) -> Iterable[str]:
    """What the pair says, what to do, and how each of the two went."""
    yield from filled(said(answer["said"]))
    yield from filled(f"Do now: {said(answer['do'])}")
    yield from (
        line for row in answer["runs"] for line in filled(f"Trained on the {row['trained_on']} set: {said(row['said'])} ({row['way']}).")
    )


def _compare(answer: Answer) -> Iterable[str]:
    """What differs first, then the runs as a table, the best first where they are many, then the settings of each variant."""
    from rl_advisor.answers.compare import spelled

    yield from (line for told in (*answer["said"], *answer["notes"]) for line in filled(told))
    yield ""
    rows = answer["runs"]
    many = len(answer["variants"]) > len(answer["between"]) + 1
    rows = sorted(rows, key=lambda row: -(row.get("final") or -math.inf)) if many else rows
    yield from table([tuple(f.replace("_", " ") for f in _COMPARED)], [_compared(row) for row in rows])
    if answer["by"]:
        yield f"start, last: {said(answer['by'])} as logged; best: the best level; final: the level up to there"
    for v in answer["variants"] if not many else ():
        settings = ", ".join(f"{key} {said(spelled(x))}" for key, x in list(v["settings"].items())[:_SETTINGS])
        more_ = f" and {len(v['settings']) - _SETTINGS} more" if len(v["settings"]) > _SETTINGS else ""
        count = f"{len(v['runs'])} run{'s' if len(v['runs']) > 1 else ''}"
        yield from filled(f"{v['variant']}, {count}: {settings or 'no setting differs'}{more_}")


def _compared(row: Answer) -> tuple[str, ...]:
    from rl_advisor.answers.compare import spelled_levels

    return row["variant"], said(row["run"]), plain(row["verdict"]), plain(row["first_broken_link"]), *spelled_levels(row).values()


_COMPARED = ("variant", "run", "verdict", "first_broken_link", "start", "best", "last", "final")
_SETTINGS = 8
"""Settings of a variant that are named."""


def _cell(value: Any) -> str:
    return "not known" if value is None else number(value) if isinstance(value, float | int) else said(str(value)).replace("_", " ")


def _load(answer: Answer) -> Iterable[str]:
    steps = answer["steps"]
    yield f"{said(answer['run'])}: {', '.join(answer['frameworks']) or 'framework not recognised'}"
    if runs := answer.get("runs"):
        yield from filled(
            f"{runs['count']} runs lie here; this is {runs['this'] or 'the largest'}. "
            f"Give the path of another to read it: {', '.join(runs['others'][:12])}{more(runs['others'], 12)}"
        )
    planned = f" of {steps['planned']} planned" if steps["planned"] else ""
    yield f"steps {number(steps['first'])} to {number(steps['last'])}{planned}, {steps['count']} logged ({steps['unit']})"
    taken = [_source(row) for row in answer["taken"]]
    yield from filled(f"read: {'; '.join(taken[:12])}{more(taken, 12)}")
    ignored = [f"{gap['where']} ({gap['why']})" for gap in answer["not_taken"]]
    yield from filled(f"left alone: {'; '.join(ignored[:8])}{more(ignored, 8)}") if ignored else ()
    yield ""
    yield from table([("metric", "logged as", "points", "link")], [_metric_row(m) for m in answer["metrics"]])
    if answer["unmapped"]:
        yield from filled(f"not understood: {', '.join(answer['unmapped'][:30])}{more(answer['unmapped'], 30)}")
    yield ""
    samples, gpus, saved = answer["rollouts"], answer["telemetry"], answer["checkpoints"]
    yield f"samples: {samples['count']} at {len(samples['steps'])} steps" if samples["count"] else "samples: none"
    yield (
        f"telemetry: {gpus['samples']} readings of {gpus['gpus']} GPU(s) over {gpus['hours']:.2g} h"
        if gpus["samples"]
        else "telemetry: none"
    )
    yield from filled(_evaluated(answer["protocol"]))
    yield from filled(on_record(answer["context"]))
    yield f"checkpoints: {', '.join(str(c['step']) for c in saved[:20])}{more(saved, 20)}" if saved else "checkpoints: none"
    yield from (f"event ({e['kind']}, step {number(e['step'])}): {said(e['text'])[:120]}" for e in answer["events"][:5])
    yield from gaps(answer)


def _source(row: Answer) -> str:
    """A file, or several of a kind, with what was taken from there."""
    counts = [f"{number(row[what])} {what}" for what in ("files", "metrics", "samples") if what in row]
    return f"{row['from']} ({', '.join(counts)})" if counts else str(row["from"])


def _metric_row(metric: Answer) -> tuple[str, ...]:
    mark = " (guessed)" if metric.get("guessed") else ""
    return metric["name"] + mark, metric["raw"], str(metric["points"]), metric["link"] or ""


def _curves(answer: Answer) -> Iterable[str]:
    for found in answer["metrics"]:
        yield f"{found['name']}  ({found['points']} points, steps {' to '.join(map(number, found['steps']))})"
        yield from (f"  {line}" for line in _curve_lines(found))
        yield ""
    if answer.get("left_out"):
        yield from filled(f"left out (ask with --metric): {', '.join(answer['left_out'][:40])}{more(answer['left_out'], 40)}")
    yield from gaps(answer)


def _curve_lines(found: Answer) -> Iterable[str]:
    if found.get("too_few"):
        yield found["too_few"]
    for name in ("first", "last", "noise", "not_finite"):
        if found.get(name) is not None:
            yield f"{name.replace('_', ' ')}: {number(found[name])}"
    for name in ("highest", "smoothed_highest", "smoothed_drop", "overall", "recent", "rate", "onset"):
        if found.get(name):
            yield f"{name.replace('_', ' ')}: {pairs(found[name])}"
    if found.get("usual"):
        yield found["usual"]
    for point in found.get("change_points", ()):
        yield f"change: {pairs(point)}"
    if found.get("sketch"):
        yield f"sketch: {spark([v for _, v in found['sketch']])}"


def _critic(answer: Answer) -> Iterable[str]:
    yield from filled(answer["says"])
    if "do" not in answer:
        return
    yield from filled(answer["do"])
    fit, own, told = answer["regressor"], answer["critic"], answer["returns"]
    yield f"rows {answer['rows']}, of {answer['dimensions']} numbers each; returns {number(told['mean'])} +/- {number(told['std'])}"
    yield f"batch {answer['fingerprint']}: the same letters mean the same numbers"
    yield f"regressor: explained variance {number(fit['explained_variance'])} ({number(fit['low'])} to {number(fit['high'])} by stretch)"
    if own:
        yield f"critic: explained variance {number(own['explained_variance'])}; values {number(own['mean'])} +/- {number(own['std'])}"


def _report(answer: Answer) -> Iterable[str]:
    written = answer.get("written", [])
    yield from (f"written: {where}" for where in [*([written] if isinstance(written, str) else written), *answer.get("told", [])])
