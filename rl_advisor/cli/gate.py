"""The gate for pipelines: an exit code of its own where a run is what somebody does not want."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from rl_advisor.output.errors import no_such
from rl_advisor.output.wording import listed, percent, plain

FAILED = 10
"""Exit code where the gate closes; all files are written before."""


class Verdicts(click.ParamType):  # type: ignore[type-arg]  # generic in the stubs alone
    """Verdicts, parted by commas."""

    name = "verdicts"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The verdicts that are named; one that there is not is refused with the nearest."""
        from rl_advisor.assessment import VERDICTS

        asked = value if isinstance(value, tuple) else tuple(v.strip().lower().replace("-", "_") for v in value.split(",") if v.strip())
        for verdict in asked:
            if verdict not in VERDICTS:
                self.fail(str(no_such("verdict", verdict, VERDICTS)), param, ctx)
        return asked


_FAIL_ON = click.option("--fail-on", type=Verdicts(), default=(), metavar="VERDICT,...", help=f"Exit with {FAILED} on one of these.")
_COST = click.option(
    "--fail-on-cost", type=click.FloatRange(0, 1), metavar="SHARE", help=f"Exit with {FAILED} where more of the steps came after the best."
)


def gated(command: Any) -> Any:
    """The options of the gate, on a command."""
    return _FAIL_ON(_COST(command))


def close(judged: Iterable[Mapping[str, Any]], fail_on: tuple[str, ...], fail_on_cost: float | None, show: Callable[[], None]) -> None:
    """Show the answer, then end with the gate's exit code where a judgement is among the verdicts, or cost too much."""
    told = [reason for one in judged if (reason := _reason(one, fail_on, fail_on_cost))]
    try:
        show()
    except SystemExit:
        if not told:
            raise
    if told:
        click.echo(f"rl-advisor: the gate closes: {listed(told, 5)}", err=True)
        sys.exit(FAILED)


def wasted(judged: Mapping[str, Any]) -> float:
    """The share of a run's steps that came after its best, where it is over for the run to go on; 0 while it may still pay."""
    step, best = judged.get("step"), judged.get("best_checkpoint")
    best = best.get("step") if isinstance(best, Mapping) else best
    if judged.get("call") == "continue" or judged.get("verdict") in ("improving", "undecidable", None) or not step:
        return 0.0
    return float(1.0 - min(best or 0, step) / step)


def _reason(judged: Mapping[str, Any], fail_on: tuple[str, ...], fail_on_cost: float | None) -> str:
    verdict, run = str(judged.get("verdict")), str(judged.get("run", "the run"))
    if verdict in fail_on:
        return f"{run} is {plain(verdict)}"
    if fail_on_cost is not None and wasted(judged) > fail_on_cost:
        return f"{run} spent {percent(wasted(judged))} of its steps after its best"
    return ""
