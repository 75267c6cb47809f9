"""Answers as plain text for a terminal: what matters first, no decoration that a pipe would choke on."""

import textwrap
from collections.abc import Iterable
from typing import Any

Answer = dict[str, Any]
WIDTH = 100


def text(kind: str, answer: Answer) -> str:
    """The answer of a command as text."""
    pages = {"load": _load, "curves": _curves, "samples": _samples, "gpu": _gpu, "assess": _assess, "report": _report, "compare": _compare}
    lines = list(pages.get(kind, _any)(answer))
    lines += [f"{alias}: {_said(words)}" for alias, words in answer.get("names_as_written", {}).items()]
    return "\n".join(lines)


def _compare(answer: Answer) -> Iterable[str]:
    for pair in answer["between"]:
        yield from _filled(f"{pair['a']} and {pair['b']}: {pair['said']}")
    yield from (line for note in answer["notes"] for line in _filled(f"note: {note}"))
    yield ""
    head: list[tuple[str, ...]] = [("variant", "run", "verdict", "first broken link", "start", "best", "last")]
    yield from _table(head, [tuple(_cell(row.get(f)) for f in _COMPARED) for row in answer["runs"]])
    for v in answer["variants"]:
        means = [f"{f} {_cell(v[f]['value'])} ({_cell(v[f]['low'])} to {_cell(v[f]['high'])})" for f in ("last", "best") if f in v]
        settings = ", ".join(f"{key} {_said(str(value))}" for key, value in v["settings"].items())
        yield from _filled(f"{v['variant']}, {len(v['runs'])} runs: {'; '.join([*means, settings])}")
    for pair in answer["between"]:
        share, low, high = (_cell(100 * pair["probability_of_improvement"][k]) for k in ("value", "low", "high"))
        yield f"{pair['b']} beats {pair['a']} in {share} % of pairs of runs ({low} to {high})"


_COMPARED = ("variant", "run", "verdict", "first_broken_link", "start", "best", "last")


def _cell(value: Any) -> str:
    return "not known" if value is None else _number(value) if isinstance(value, float | int) else _said(str(value)).replace("_", " ")


def _load(answer: Answer) -> Iterable[str]:
    steps = answer["steps"]
    yield f"{_said(answer['run'])}: {', '.join(answer['frameworks']) or 'framework not recognised'}"
    if runs := answer.get("runs"):
        yield from _filled(
            f"{runs['count']} runs lie in this folder; this is {runs['this'] or 'the largest'}. "
            f"Give the path of another to read it: {', '.join(runs['others'][:12])}{_more(runs['others'], 12)}"
        )
    planned = f" of {steps['planned']} planned" if steps["planned"] else ""
    yield f"steps {_number(steps['first'])} to {_number(steps['last'])}{planned}, {steps['count']} logged ({steps['unit']})"
    yield f"files read: {', '.join(answer['files'][:8])}{_more(answer['files'], 8)}"
    yield ""
    yield from _table([("metric", "logged as", "points", "link")], [_metric_row(m) for m in answer["metrics"]])
    if answer["unmapped"]:
        yield from _filled(f"not understood: {', '.join(answer['unmapped'][:30])}{_more(answer['unmapped'], 30)}")
    yield ""
    samples, gpus, saved = answer["rollouts"], answer["telemetry"], answer["checkpoints"]
    yield f"samples: {samples['count']} at {len(samples['steps'])} steps" if samples["count"] else "samples: none"
    yield (
        f"telemetry: {gpus['samples']} readings of {gpus['gpus']} GPU(s) over {gpus['hours']:.2g} h"
        if gpus["samples"]
        else "telemetry: none"
    )
    yield f"checkpoints: {', '.join(str(c['step']) for c in saved[:20])}{_more(saved, 20)}" if saved else "checkpoints: none"
    yield from (f"event ({e['kind']}, step {_number(e['step'])}): {_said(e['text'])[:120]}" for e in answer["events"][:5])
    yield from _gaps(answer)


def _metric_row(metric: Answer) -> tuple[str, ...]:
    mark = " (guessed)" if metric.get("guessed") else ""
    return metric["name"] + mark, metric["raw"], str(metric["points"]), metric["link"] or ""


def _curves(answer: Answer) -> Iterable[str]:
    for found in answer["metrics"]:
        yield f"{found['name']}  ({found['points']} points, steps {' to '.join(map(_number, found['steps']))})"
        yield from (f"  {line}" for line in _curve_lines(found))
        yield ""
    if answer.get("left_out"):
        yield from _filled(f"left out (ask with --metric): {', '.join(answer['left_out'][:40])}{_more(answer['left_out'], 40)}")
    yield from _gaps(answer)


def _curve_lines(found: Answer) -> Iterable[str]:
    if found.get("too_few"):
        yield found["too_few"]
    for name in ("start", "end", "noise", "not_finite"):
        if found.get(name) is not None:
            yield f"{name.replace('_', ' ')}: {_number(found[name])}"
    for name in ("highest", "overall", "recent", "rate", "onset", "drop"):
        if found.get(name):
            yield f"{name}: {_pairs(found[name])}"
    for point in found.get("change_points", ()):
        yield f"change: {_pairs(point)}"
    if found.get("sketch"):
        yield f"sketch: {_spark([v for _, v in found['sketch']])}"


def _spark(values: list[float | None]) -> str:
    """A curve as a line of blocks, a gap where a value is missing."""
    known = [v for v in values if v is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = 7 / (high - low) if high > low else 0.0
    return "".join(" " if v is None else "▁▂▃▄▅▆▇█"[round((v - low) * scale)] for v in values)


def _samples(answer: Answer) -> Iterable[str]:
    for kind in ("highest", "lowest", "random"):
        for sample in answer[kind]:
            yield f"--- {kind} reward, {_pairs({k: v for k, v in sample.items() if not isinstance(v, dict | list)})}"
            for part in ("prompt", "response"):
                if sample.get(part):
                    yield from (f"  {part[0]}| {line}" for line in _said(sample[part]).splitlines())
    yield ""
    yield from _statistics(answer["statistics"])
    if answer["reward"]:
        yield "reward:"
        yield from _any(answer["reward"], "  ")
    yield from _gaps(answer)


def _statistics(found: Answer) -> Iterable[str]:
    """Text statistics at no more than eight steps, those that ever differ."""
    rows = found.get("steps", [])
    rows = rows[:: max(1, len(rows) // 7)]
    names = [n for n in dict.fromkeys(k for r in rows for k in r) if n != "step" and len({r.get(n) for r in rows}) > 1]
    yield from _table(
        [("text, by step", *(_number(r["step"]) for r in rows))], [(n, *(_number(r.get(n, "")) for r in rows)) for n in names]
    )
    yield from _any({k: v for k, v in found.items() if k not in {"steps", "meaning"} and v})
    yield ""


def _gpu(answer: Answer) -> Iterable[str]:
    period = answer.get("step_period_s")
    yield f"{answer.get('gpus', 0)} GPU(s), {_number(answer.get('hours'))} h" + (f", a step takes {_number(period)} s" if period else "")
    heads = ("phase", "share", "from", "to", "s/step", "W", "util", "GiB", "J/step", "confidence")
    keys = (
        "name",
        "share",
        "share_low",
        "share_high",
        "seconds_per_step",
        "power_w",
        "utilization",
        "memory_gib",
        "energy_j_per_step",
        "confidence",
    )
    yield from _table([heads], [tuple(_number(p.get(k)) for k in keys) for p in answer.get("phases", [])])
    for part in ("idle", "interference"):
        yield from (f"{part}: {_pairs(row) if isinstance(row, dict) else row}" for row in answer.get(part, []))
    if answer.get("headroom_gib") is not None:
        yield f"memory never used: {_number(answer['headroom_gib'])} GiB"
    yield from (line for row in answer.get("cannot_tell", []) for line in _filled(f"cannot tell: {_said(row)}"))
    yield from _gaps(answer)


SHOWN = 6
"""Blind spots named on a terminal; the rest is counted."""


def _assess(answer: Answer) -> Iterable[str]:
    planned = f" of {_number(answer['planned_steps'])}" if answer["planned_steps"] else ""
    yield f"{_said(answer['run'])}, step {_number(answer['step'])}{planned}"
    yield f"verdict: {answer['verdict']} ({answer['confidence']} confidence)"
    yield f"call: {answer['call']} (going on pays with probability {_number(answer['p_continue_pays'])})"
    best, onset = answer["best_checkpoint"], answer["onset"]
    yield from _filled(f"best checkpoint: {best['path'] or 'none on disk'}, step {_number(best['step'])}: {best['why']}")
    began = f", from step {_number(onset['step'])} ({_number(onset['low'])} to {_number(onset['high'])})" if onset else ""
    yield f"broke first: {answer['first_broken_link']}{began}"
    yield ""
    yield from _filled(answer["summary"])
    yield ""
    for outcome in ("present", "unclear"):
        for found in (f for f in answer["findings"] if f["outcome"] == outcome):
            yield from _filled(f"{outcome}: {found['pattern']} ({found['link']}): {found['statement']}")
    yield from _filled("ruled out: " + (", ".join(str(said).split(":")[0] for said in answer["ruled_out"]) or "nothing"))
    yield f"could not see:{'' if answer['could_not_see'] else ' nothing'}"
    yield from (line for said in answer["could_not_see"][:SHOWN] for line in _filled(f"- {_said(said)}"))
    if len(answer["could_not_see"]) > SHOWN:
        yield f"- and {len(answer['could_not_see']) - SHOWN} more: --json shows all"
    then = answer["next_experiment"]
    yield from _filled(f"next: {then['do']}")
    yield from _filled(f"  if right: {then['expect_if_right']}")
    yield from _filled(f"  if wrong: {then['expect_if_wrong']}")


def _report(answer: Answer) -> Iterable[str]:
    yield f"written: {answer['written']}"


def _any(answer: Answer, indent: str = "") -> Iterable[str]:
    """Any answer, one value a line, tables for lists of records."""
    for key, value in answer.items():
        if isinstance(value, dict) and "untrusted" not in value:
            yield f"{indent}{key}:"
            yield from _any(value, f"{indent}  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_pairs(row)}" for row in value)
        else:
            yield f"{indent}{key}: {_said(value)}"


def _gaps(answer: Answer) -> Iterable[str]:
    for gap in answer.get("gaps", []):
        yield from _filled(f"gap: {gap['where']}: {gap['why']}" if isinstance(gap, dict) else f"gap: {gap}")


def _said(value: Any) -> str:
    """A value as words; an envelope as its text."""
    if isinstance(value, dict) and "untrusted" in value:
        return str(value["untrusted"])
    if isinstance(value, list):
        return ", ".join(_said(v) for v in value) or "none"
    return _pairs(value) if isinstance(value, dict) else _number(value)


def _pairs(row: Any) -> str:
    return ", ".join(f"{k.replace('_', ' ')} {_said(v)}" for k, v in row.items()) if isinstance(row, dict) else _said(row)


def _number(value: Any) -> str:
    return "unknown" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _more(values: list[Any], shown: int) -> str:
    return f" and {len(values) - shown} more" if len(values) > shown else ""


def _filled(line: str) -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False) or [""]


def _table(head: list[tuple[str, ...]], rows: list[tuple[str, ...]]) -> Iterable[str]:
    if not rows:
        return
    widths = [min(46, max(len(row[i]) for row in head + rows)) for i in range(len(head[0]))]
    for row in head + rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
