"""A GPU reported an error of its own: an Xid, or memory that could not be corrected.

Looks for: Xid codes and counts of uncorrectable memory errors in the telemetry, and the driver's lines in the run's logs.
Means: the card, its link or its driver failed. What was computed after may be wrong, and collectives that wait for it hang: numbers that
    stop being finite and crashes that come later are its consequences.
Not to be confused with: Xid 13, 31, 43 and 45, which a program's own faulty access brings about; corrected memory errors, which are no
    fault.
Next test: drain the card and run the vendor's diagnosis; go on from the checkpoint before the error on another card.
Source: NVIDIA's catalogue of Xid errors; DCGM's fields for Xid and ECC; the rule that any new Xid is an event to lay beside the loss.
"""

import re
from collections.abc import Iterator

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, not_logged
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ()
OF_PROGRAMS = frozenset({13, 31, 43, 45})
"""Xid codes that a faulty program brings about as well."""
COUNTERS, MOST = frozenset({"xid", "ecc_uncorrected"}), 20
"""Columns that count errors, and errors that are told of each."""
XID = re.compile(r"NVRM: Xid \([^)]{0,60}\): (\d{1,3})\b")
UNCORRECTABLE = re.compile(r"uncorrectable ECC|double.bit (?:ECC )?error|ECC uncorrectable", re.IGNORECASE)


def detect(run: Run) -> Answer:
    """Present when the card itself failed; unclear for codes that a program can bring about; absent where the counters say zero."""
    found = [*_in_telemetry(run), *_in_logs(run)]
    counted = COUNTERS & set(map(str, run.telemetry.columns))
    if not found:
        zero = absent(f"The counters of {' and '.join(sorted(counted))} stay at zero.")
        return zero if counted else not_logged("Neither Xid nor memory errors are recorded; dmesg or DCGM would show them.")
    hard = [f for f in found if f[2] not in OF_PROGRAMS]
    first = min((f[0] for f in hard or found if f[0] is not None), default=None)
    text = "; ".join(dict.fromkeys(f[1] for f in (hard or found)[:4]))
    text += f", first about step {first:.0f}." if first is not None else ", at an unknown step."
    onset = None if first is None else segments.around(segments.logged(run), first)
    where = (Evidence("telemetry" if counted else "events", first or run.first_step, first or run.last_step),)
    measures = {"errors": float(len(found)), "of_the_card": float(len(hard))}
    return Answer(Outcome.PRESENT if hard else Outcome.UNCLEAR, text, onset, measures, where)


def _in_telemetry(run: Run) -> Iterator[tuple[float | None, str, int]]:
    """Step, words and code (0 for memory) of each new error in the counters; what they say from the start is older."""
    step, time = run.clock()
    for name in COUNTERS & set(map(str, run.telemetry.columns)):
        table = run.telemetry[["gpu", "time", name]].dropna().sort_values("time")
        before = table.groupby("gpu", observed=True)[name].shift().fillna(table[name])
        for gpu, at, value in table[(table[name] > 0) & (table[name] != before)].head(MOST).itertuples(index=False):
            when, code = float(np.interp(at, time, step)) if time.size else None, int(value) if name == "xid" else 0
            yield when, f"GPU {gpu}: {f'Xid {code}' if code else 'uncorrectable memory error'}", code


def _in_logs(run: Run) -> Iterator[tuple[float | None, str, int]]:
    for event in run.events:
        yield from ((event.step, f"the log has Xid {code}", int(code)) for code in XID.findall(event.text)[:MOST])
        if UNCORRECTABLE.search(event.text):
            yield event.step, "the log has an uncorrectable memory error", 0
