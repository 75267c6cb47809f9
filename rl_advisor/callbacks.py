"""Callbacks that let a trainer ask for a judgement of itself every so many steps; they look at what is on disk, nothing else."""

from pathlib import Path
from typing import Any

from rl_advisor.watching import State, exit_code, heard


class Listener:
    """What both callbacks share: judges the run on disk and remembers what was said."""

    def __init__(self, run: str | Path, every: int) -> None:
        """Nothing is read yet.

        Raises:
            ValueError: ``every`` is less than one step.
        """
        if every < 1:
            raise ValueError("every takes a number of steps, at least 1")
        from rl_advisor.reading.live import Follower

        self._every, self._follower, self._state = every, Follower(run), State()

    def stop_advised(self, step: int) -> bool:
        """Whether stopping is advised at this step; prints the judgement when it changed. Between the steps it looks at: False."""
        if step < 1 or step % self._every:
            return False
        from rl_advisor.advisors import builtin
        from rl_advisor.reading import UnreadableRun

        try:
            self._state, change = heard(self._state, builtin.assess(self._follower.read()))
        except (UnreadableRun, FileNotFoundError):
            return False
        if change:
            print(f"rl-advisor, step {step}: {change['now']['verdict']}, {change['now']['call']}. {change['summary']}")  # noqa: T201
        return exit_code(self._state) == 10


def trl_callback(run: str | Path, every: int = 50, *, stop: bool = False) -> Any:
    """A transformers ``TrainerCallback``; ends training only if ``stop``."""
    from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every)

    class Advisor(TrainerCallback):  # type: ignore[misc,unused-ignore]
        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero and listener.stop_advised(state.global_step) and stop:
                control.should_training_stop = True

    return Advisor()


def sb3_callback(run: str | Path, every: int = 10_000, *, stop: bool = False) -> Any:
    """A Stable-Baselines3 ``BaseCallback``; ends training only if ``stop``. ``every`` counts calls of the environment."""
    from stable_baselines3.common.callbacks import BaseCallback  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every)

    class Advisor(BaseCallback):  # type: ignore[misc,unused-ignore]
        def _on_step(self) -> bool:
            return not (listener.stop_advised(self.n_calls) and stop)

    return Advisor()
