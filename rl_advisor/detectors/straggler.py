"""One GPU keeps the others waiting: it works while they idle, step after step.

Looks for: among GPUs that move together, one whose utilisation or power stays far from the others' median in nearly all parts of the run.
Means: uneven work, a slow link, a throttled or shared card. The whole group runs at its pace.
Not to be confused with: GPUs of different duty (trainer and sampler), which are other groups; a difference at the start only.
Next test: swap the rank onto another card: does the slowness follow the card or the rank?
Source: relative scores per rank as straggler detectors of training clusters keep them; robust z above 3.5.
"""

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Role, absent, number, present
from rl_advisor.gpu.look import look
from rl_advisor.gpu.signals import Rows
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.SYSTEMS
ROLE = Role.FAULT
NEEDS: tuple[str, ...] = ("telemetry",)
PARTS = 10


def detect(run: Run, far: float = 3.5, least: float = 0.1) -> Answer:
    """Present when a GPU is ``far`` robust deviations and ``least`` of the level from the median in nine parts of ten.

    Raises:
        TooFewPoints: fewer than four GPUs move together.

    """
    group = look(run).group
    name = next((n for n in ("power_w", "utilization") if all(n in r.value for r in group)), None)
    if len(group) < 4 or name is None:
        raise TooFewPoints(f"{len(group)} GPUs move together, 4 needed")
    level = np.stack([_parts(r, name) for r in group])
    middle = np.median(level, axis=0)
    off = level - middle
    spread = np.maximum(1.4826 * np.median(np.abs(off), axis=0), 1e-9)
    out = (np.abs(off) > far * spread) & (np.abs(off) > least * np.abs(middle))
    share = out.mean(axis=1)
    worst = int(share.argmax())
    measures = {
        "share_of_parts": float(share[worst]),
        "level": float(level[worst].mean()),
        "others": float(middle.mean()),
        "gpus": float(len(group)),
    }
    if share[worst] < 0.9:
        return absent(f"None of the {len(group)} GPUs differs from the others.", None, measures)
    what = "power" if name == "power_w" else "utilisation"
    own, others = number(measures["level"]), number(measures["others"])
    text = f"GPU {group[worst].gpu} differs from the others: its {what} is {own}, their median {others}."
    return present(text, None, measures, (Evidence("telemetry", run.first_step, run.last_step),))


def _parts(rows: Rows, name: str) -> Floats:
    """Mean level in each tenth of the rows."""
    return np.array([part.mean() for part in np.array_split(rows.value[name], PARTS)])
