"""What the model wrote, chosen to be read: best rewarded, worst rewarded and random, in envelopes. The answer of ``samples``."""

from collections.abc import Mapping
from typing import Any

from rl_advisor.output import untrusted
from rl_advisor.run import Run

LONGEST = 1500
SEED = 0


def spot_check(run: Run, step: int | None = None, count: int = 3) -> dict[str, Any]:
    """The triad at a step (random samples are of the latest step), text statistics over steps, and the audit of the reward."""
    from rl_advisor import spotcheck

    picked = spotcheck.triad(run, step, count, SEED)
    answer = {key: _marked(value, key) for key, value in dict(picked).items()}
    answer["statistics"] = _marked(spotcheck.statistics(run), "statistics")
    answer["reward"] = _marked(spotcheck.reward_audit(run), "reward")
    gaps = [*answer.pop("gaps", ()), *({"where": g.where, "why": g.why} for g in run.gaps)]
    return {"run": run.name, **answer, "gaps": [g for i, g in enumerate(gaps) if g not in gaps[:i]]}


_WRITTEN = ("prompt", "response", "completion", "text", "answer", "quote", "example", "solution", "ground_truth")


def _marked(value: Any, origin: str) -> Any:
    """The value with everything that the model or the data set wrote in envelopes that say where it stands."""
    if isinstance(value, Mapping):
        row = f"{value['source']}, row {value['row']}" if "source" in value and "row" in value else origin
        return {k: untrusted(v, row, LONGEST) if _is_written(str(k), v) else _marked(v, row) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(v, origin) for v in value]
    return value


def _is_written(key: str, value: Any) -> bool:
    """Whether a text is the run's own words: by its field, or because it is too long for a label."""
    if not isinstance(value, str):
        return False
    return key.startswith(("other/", *_WRITTEN)) or len(value) > 120
