"""The clock is held down by heat or by the power supply.

Looks for: the driver's reasons (hardware slow-down, thermal, power brake) in more than a small share of rows; without them, an SM clock
    that falls over the run while power stays high and temperature rises.
Means: the card works slower than it could. Steps lengthen for no reason in the training.
Not to be confused with: the power cap of a busy card, which is its usual state; low clocks of an idle card.
Next test: watch the reasons while a step runs; cool the card or lower the cap of its neighbours.
Source: bits of NVIDIA's clock event reasons as DCGM documents them.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, absent, number, present
from rl_advisor.gpu.look import look
from rl_advisor.gpu.signals import Rows
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry",)
HARMFUL = 0x8 | 0x20 | 0x40 | 0x80
"""Hardware slow-down, software thermal, hardware thermal, power brake; the software power cap (0x4) is no fault."""


def detect(run: Run, most: float = 0.02, fall: float = 0.05) -> Answer:
    """Present when more than ``most`` of a GPU's rows carry such a reason, or its busy clock falls by ``fall`` while it gets warmer."""
    seen = look(run)
    rows = [r for group in (seen.group, *seen.others) for r in group]
    where = (Evidence("telemetry", run.first_step, run.last_step),)
    masked = [r for r in rows if "throttle" in r.value]
    if masked:
        share = max(float(((r.value["throttle"].astype(np.int64) & HARMFUL) != 0).mean()) for r in masked)
        text = f"The driver reports clocks lowered by heat or power in {percent(share)} of the readings of the worst GPU."
        return Answer(Outcome.PRESENT if share > most else Outcome.ABSENT, text, None, {"share": share}, where)
    drops = [d for d in map(_drop, rows) if d is not None]
    if not drops:
        raise TooFewPoints("needs throttle reasons, or clock, utilisation and temperature over enough busy readings")
    drop, warmer = max(drops)
    measures = {"clock_fall": drop, "degrees_warmer": warmer}
    text = f"The busy clock of the worst GPU falls by {percent(drop)} over the run while it gets {number(warmer)} degrees warmer"
    if drop > fall and warmer > 3:
        return present(f"{text}.", None, measures, where)
    return absent(f"{text}; the throttle reasons are not logged.", None, measures, where)


def _drop(rows: Rows) -> tuple[float, float] | None:
    """Relative fall of the SM clock between the first and the last third of busy rows, and the rise of temperature."""
    if not {"sm_clock", "utilization", "temperature"} <= rows.value.keys():
        return None
    busy = np.flatnonzero(rows.value["utilization"] > 0.3)
    if busy.size < 30:
        return None
    first, last = busy[: busy.size // 3], busy[-(busy.size // 3) :]
    clock, heat = rows.value["sm_clock"], rows.value["temperature"]
    return 1 - float(np.median(clock[last]) / max(np.median(clock[first]), 1)), float(np.median(heat[last]) - np.median(heat[first]))
