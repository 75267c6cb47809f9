"""The run ran out of memory.

Looks for: lines that say out of memory or that the process was killed; restarts beside them; how full the GPUs were.
Means: the set-up needs more than there is, at least for its longest batches. Each restart repeats steps and, where the optimizer's state
    or the data order is lost, changes what is trained.
Not to be confused with: restarts alone, which tell nothing of why it ended; a kill by the scheduler at the end of its time.
Next test: run the longest batch alone with the same settings and read the highest memory allocated; `rl-advisor memory` says what to
    reduce first.
Source: the field guide's ledger of memory: weights, optimizer, gradients, activations; crash loops as operators count them.
"""

import numpy as np

from rl_advisor.curves import segments
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, not_logged
from rl_advisor.output.wording import counted, percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ()
CHANGE: tuple[tuple[str, str], ...] = (("smaller_micro_batch", ""),)


def detect(run: Run) -> Answer:
    """Present when memory ran out; unclear where the run was only restarted; not logged without a log."""
    short = [e for e in run.events if e.kind == "out_of_memory"]
    restarts = [e for e in run.events if e.kind == "resume"]
    measures = {"out_of_memory": float(len(short)), "restarts": float(len(restarts))}
    full = _fullest(run)
    if full is not None:
        measures["highest_memory_share"] = full
    if not short and not restarts:
        if not run.events and not any("console" in f for f in run.formats):
            return not_logged("No log of the process was found.")
        return absent("The log reports neither an out-of-memory error nor a restart.", measures=measures)
    first = next((e.step for e in (*short, *restarts) if e.step is not None), None)
    text = f"Memory ran out {counted(len(short), 'time')}" if short else f"The run was restarted {counted(len(restarts), 'time')}"
    text += f" and the run was restarted {counted(len(restarts), 'time')}" if short and restarts else ""
    text += f", first near step {first:.0f}" if first is not None else ""
    text += f"; the fullest GPU held {percent(full)} of its memory" if full is not None else ""
    onset = None if first is None else segments.around(segments.logged(run), first)
    where = (Evidence("events", first or run.first_step, first or run.last_step),)
    outcome = Outcome.PRESENT if short else Outcome.UNCLEAR  # what is started again may have ended for any reason
    return Answer(outcome, f"{text}.", onset, measures, where)


def _fullest(run: Run) -> float | None:
    """The highest share of a GPU's memory in use, where telemetry has it."""
    if not {"memory_gib", "memory_total_gib"} <= set(map(str, run.telemetry.columns)):
        return None
    share = (run.telemetry["memory_gib"] / run.telemetry["memory_total_gib"].clip(lower=1e-9)).max()
    return float(share) if np.isfinite(share) else None
