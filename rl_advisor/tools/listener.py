"""Judges a run from inside its trainer: a line when the judgement changes, advice to stop, a report at the end; what callbacks share."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rl_advisor.tools.rules import Own, Rules
from rl_advisor.tools.watching import STOP, State, exit_code, heard, judged

REPORT = "rl-advisor-report.html"


class Listener:
    """What all callbacks share: judges the run on disk, remembers what was said, and writes the report at the end."""

    def __init__(  # noqa: PLR0913
        self,
        run: str | Path,
        every: int,
        *,
        rules: Sequence[str | Own] = (),
        grace: int = 0,
        report: str | Path | None = REPORT,
        to: Sequence[str] = (),
    ) -> None:
        """Nothing is read yet. ``grace``: steps for which stopping must have been advised without a break; ``report``: None for none.

        ``to``: trackers that are told at the end, as ``report --to`` names them.

        Raises:
            ValueError: ``every`` is less than one step, ``report`` has no ending that is known, or a rule or tracker is none.
        """
        if every < 1:
            raise ValueError("every takes a number of steps, at least 1")
        from rl_advisor.reading.live import Follower
        from rl_advisor.tools.report_file import renderer, tracker

        self.run, self._every, self._grace, self._follower, self._state = Path(run), every, grace, Follower(run), State()
        self._rules = Rules(rules, lambda step, line: print(f"rl-advisor, step {step:.0f}: {line}"))  # noqa: T201
        self.report = None if report is None else self.run / report
        if self.report is not None:
            renderer(self.report)
        self._to = [target for target in to if tracker(target)]
        self.planned: int | None = None
        """The plan as the trainer knows it, for a log that does not say it."""
        self._since: float | None = None
        """The step from which stopping has been advised without a break."""

    def due(self, step: int) -> bool:
        """Whether this is a step to look at."""
        return step >= 1 and step % self._every == 0

    def stop_advised(self, step: int) -> bool:
        """Whether stopping is advised at this step, and has been for the grace; prints a line when the judgement changed.

        Between the steps it looks at: False.
        """
        if not self.due(step):
            return False
        try:
            run = self._read()
            self._state, change = heard(self._state, judged(run))
            if change:
                print(f"rl-advisor {change['text']}")  # noqa: T201
            advised = self._rules.broken(run, step) or exit_code(self._state) == STOP
        except Exception as trouble:  # noqa: BLE001 - whatever it is, the training is worth more than our opinion of it
            self._rules.say(step, f"cannot judge yet ({type(trouble).__name__}: {trouble}); training goes on")
            return False
        self._since = (step if self._since is None else self._since) if advised else None
        return self._since is not None and step - self._since >= self._grace

    def finish(self) -> None:
        """Write the report of the run as it ended, tell the trackers, and say where; what goes wrong is said."""
        if self.report is None and not self._to:
            return
        from rl_advisor.advisors import builtin
        from rl_advisor.tools import report_file

        try:
            run = self._read()
            done = report_file.report(run, builtin.assess(run), [str(self.report)] if self.report else [], self._to, self.run)
            for line in ([f"report in {done['written']}"] if self.report else []) + list(done.get("told", ())):
                print(f"rl-advisor: {line}")  # noqa: T201
        except Exception as trouble:  # noqa: BLE001 - as above
            self._rules.say(0, f"no report ({type(trouble).__name__}: {trouble})")

    def _read(self) -> Any:
        run = self._follower.read()
        return run if run.planned_steps else replace(run, planned_steps=self.planned)
