"""Judges a run from inside its trainer: a line when the judgement changes, advice to stop, a report at the end; what callbacks share."""

from collections.abc import Sequence
from pathlib import Path

from rl_advisor.tools import report_file
from rl_advisor.tools.watching import STOP, Voice, line

REPORT = "rl-advisor-report.html"


class Listener(Voice):
    """What all callbacks share: judges the run on disk, remembers what was said, and writes the report at the end."""

    def __init__(  # noqa: PLR0913
        self,
        run: str | Path,
        every: int,
        *,
        rules: Sequence[str] = (),
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
        super().__init__(run, lambda change: print(f"rl-advisor {line(change)}"), rules=rules)  # noqa: T201
        self._every, self._grace, self._at_the_end, self._to = every, grace, [] if report is None else [self.run / report], to
        report_file.look_ahead(self._at_the_end, to)
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
            advised = self.judge() == STOP
        except Exception as trouble:  # noqa: BLE001 - whatever it is, the training is worth more than our opinion of it
            self.say(step, f"cannot judge yet ({type(trouble).__name__}: {trouble}); training goes on")
            return False
        self._since = (step if self._since is None else self._since) if advised else None
        return self._since is not None and step - self._since >= self._grace

    def finish(self) -> None:
        """Write the report of the run as it ended, tell the trackers, and say where; what goes wrong is said."""
        for said in self.report(self._at_the_end, self._to):
            print(f"rl-advisor: {said}")  # noqa: T201
