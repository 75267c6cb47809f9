"""Some GPUs do next to nothing while others work.

Looks for: GPUs busy in less than a twentieth of the rows over the whole recording, beside others that are busy in half of them and more.
Means: a rank that got no work, a server that nobody asks, a card that is paid for and not used.
Not to be confused with: samplers that rest while trainers work and the other way round: both are busy for part of the time.
Next test: list the processes on the idle GPUs: is there one, and which?
Source: idle GPU-hours as clusters count them (an SM active in less than 5 % of the time).
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present, unclear
from rl_advisor.gpu.look import look
from rl_advisor.gpu.signals import Rows
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry",)
BUSY = 0.10
NAMED = 8


def detect(run: Run, idle: float = 0.05, busy: float = 0.5) -> Answer:
    """Present when a GPU is busy in less than ``idle`` of its rows and another in ``busy`` of them."""
    seen = look(run)
    share = {r.gpu: _busy(r) for group in (seen.group, *seen.others) for r in group if "utilization" in r.value}
    if len(share) < 2:
        raise TooFewPoints(f"{len(share)} GPUs with utilisation, two are needed")
    resting = [gpu for gpu, part in share.items() if part < idle]
    working = [gpu for gpu, part in share.items() if part > busy]
    measures = {"idle_gpus": float(len(resting)), "busy_gpus": float(len(working)), "gpus": float(len(share))}
    if not working:
        most = number(100 * max(share.values()))
        text = f"No GPU is busy in more than {most} % of the readings, so there is nothing to compare an idle one with."
        return unclear(text, None, measures)
    if not resting:
        least = number(100 * min(share.values()))
        return absent(f"Each of {len(share)} GPUs is busy in at least {least} % of its readings.", None, measures)
    names = ", ".join(resting[:NAMED]) + (f" and {len(resting) - NAMED} more" if len(resting) > NAMED else "")
    text = f"{len(resting)} of {len(share)} GPUs ({names}) are busy in less than {percent(idle)} of the readings while {len(working)} work."
    where = (Evidence("telemetry", run.first_step, run.last_step),)
    return present(text, None, measures, where)


def _busy(rows: Rows) -> float:
    return float(np.mean(rows.value["utilization"] > BUSY))
