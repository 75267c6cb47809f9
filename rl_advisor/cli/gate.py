"""The gate for pipelines: an exit code of its own where a run is what somebody does not want."""

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress

import click

from rl_advisor.output import Answer
from rl_advisor.output.errors import no_such
from rl_advisor.output.wording import listed, percent, plain

FAILED = 10
"""Exit code where the gate closes; all files are written before."""


class Gate:
    """What somebody does not want: verdicts, parted by commas, and a share of the steps spent after the best."""

    def __init__(self, fail_on: str | None, cost: float | None) -> None:
        """Note both; raises UsageError with the nearest where there is no such verdict."""
        from rl_advisor.finding import VERDICTS

        self._verdicts = [v.strip().lower().replace("-", "_") for v in (fail_on or "").split(",") if v.strip()]
        self._cost = float("inf") if cost is None else cost
        for unknown in (v for v in self._verdicts if v not in VERDICTS):
            raise no_such("verdict", unknown, VERDICTS)

    def close(self, judged: Iterable[Answer], show: Callable[[], None]) -> None:
        """Show the answer, then end with the gate's exit code where a judgement is among the verdicts, or cost too much."""
        told = [reason for one in judged if (reason := self._reason(one))]
        with suppress(SystemExit) if told else nullcontext():
            show()
        if told:
            click.echo(f"rl-advisor: the gate closes: {listed(told, 5)}", err=True)
            sys.exit(FAILED)

    def _reason(self, judged: Answer) -> str:
        verdict, run, lost = str(judged.get("verdict")), str(judged.get("run", "the run")), wasted(judged)
        dear = f"{run} spent {percent(lost)} of its steps after its best" if lost > self._cost else ""
        return f"{run} is {plain(verdict)}" if verdict in self._verdicts else dear


def wasted(judged: Answer) -> float:
    """The share of a run's steps that came after its best, where it is over for the run to go on; 0 while it may still pay."""
    step, best = judged.get("step"), judged.get("best_checkpoint")
    best = best.get("step") if isinstance(best, Mapping) else best
    if judged.get("call") == "continue" or judged.get("verdict") in ("improving", "undecidable", None) or not step:
        return 0.0
    return float(1.0 - min(best or 0, step) / step)
