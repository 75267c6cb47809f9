"""Callbacks that let a trainer ask for a judgement of itself every so many steps.

They judge what is on disk below the run's folder, and see to it that the trainer's own log is there: TRL writes it only when it saves,
Stable-Baselines3 only where a logger was asked to. Nothing that goes wrong in here ends a training.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rl_advisor.gpu.marks import Marks
from rl_advisor.tools.watching import STOP, State, exit_code, heard


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

        self.run, self._every, self._follower, self._state, self._trouble = Path(run), every, Follower(run), State(), ""
        self.planned: int | None = None
        """The plan as the trainer knows it, for a log that does not say it."""

    def due(self, step: int) -> bool:
        """Whether this is a step to look at."""
        return step >= 1 and step % self._every == 0

    def stop_advised(self, step: int) -> bool:
        """Whether stopping is advised at this step; prints the judgement when it changed. Between the steps it looks at: False."""
        if not self.due(step):
            return False
        from rl_advisor.advisors import builtin

        try:
            run = self._follower.read()
            run = run if run.planned_steps else replace(run, planned_steps=self.planned)
            self._state, change = heard(self._state, builtin.assess(run))
        except Exception as trouble:  # noqa: BLE001 - whatever it is, the training is worth more than our opinion of it
            self._complain(step, trouble)
            return False
        if change:
            print(f"rl-advisor {change['text']}")  # noqa: T201
        return exit_code(self._state) == STOP

    def _complain(self, step: int, trouble: Exception) -> None:
        """Say once what keeps it from judging, and again only when that changes."""
        from rl_advisor.output.clean import readable

        said = readable(f"{type(trouble).__name__}: {trouble}", 500)
        if said != self._trouble:
            self._trouble = said
            print(f"rl-advisor, step {step}: cannot judge yet ({said}); training goes on")  # noqa: T201


def trl_callback(run: str | Path, every: int = 50, *, stop: bool = False) -> Any:
    """A transformers ``TrainerCallback``; ends training only if ``stop``. ``run`` is the trainer's ``output_dir``."""
    from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every)

    class Advisor(TrainerCallback):  # type: ignore[misc,unused-ignore]
        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
            if not listener.due(state.global_step):
                return
            advised = False
            if state.is_world_process_zero:
                # What ``trainer.save_state()`` writes at the end; without it nothing is on disk before the first checkpoint.
                listener.run.mkdir(parents=True, exist_ok=True)
                state.save_to_json(str(listener.run / "trainer_state.json"))
                advised = listener.stop_advised(state.global_step)
            if stop and _everywhere(advised):
                control.should_training_stop = True

    return Advisor()


def _everywhere(advised: bool) -> bool:
    """What the first process was advised, in every process: one that stopped alone would leave the others waiting for it."""
    from accelerate.utils import broadcast_object_list  # type: ignore[import-not-found,unused-ignore]

    return bool(broadcast_object_list([advised])[0])


def sb3_callback(run: str | Path, every: int = 10_000, *, stop: bool = False) -> Any:
    """A Stable-Baselines3 ``BaseCallback``; ends training only if ``stop``. ``every`` counts calls of the environment."""
    from stable_baselines3.common.callbacks import BaseCallback  # type: ignore[import-not-found,unused-ignore]
    from stable_baselines3.common.logger import CSVOutputFormat, JSONOutputFormat  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every)

    class Advisor(BaseCallback):  # type: ignore[misc,unused-ignore]
        def _on_training_start(self) -> None:
            listener.run.mkdir(parents=True, exist_ok=True)
            listener.planned = self.locals.get("total_timesteps")
            if not any(isinstance(f, CSVOutputFormat | JSONOutputFormat) for f in self.logger.output_formats):
                self.logger.output_formats.append(JSONOutputFormat(str(listener.run / "progress.json")))

        def _on_step(self) -> bool:
            return not (listener.stop_advised(self.n_calls) and stop)

    return Advisor()


TRL_PHASES = {
    "_generate_and_score_completions": "generation",
    "_calculate_rewards": "waiting",
    "_get_per_token_logps_and_entropies": "training",
    "_save_checkpoint": "checkpoint",
    "training_step": "training",
}
"""Methods of TRL's trainers that are a phase of their step; one inside another takes its time from that."""


def trl_phases(trainer: Any, run: str | Path) -> Any:
    """A transformers ``TrainerCallback`` that marks the phases of every step of ``trainer`` in the run's folder; add it to the trainer."""
    from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

    marks = Marks(Path(run) / "phases.jsonl", by_hand=True)
    for name, phase in TRL_PHASES.items():
        if hasattr(trainer, name):
            setattr(trainer, name, marks(phase)(getattr(trainer, name)))

    class Phases(TrainerCallback):  # type: ignore[misc,unused-ignore]
        def on_step_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                marks.step_ended(state.global_step)

    return Phases()


def sb3_phases(run: str | Path) -> Any:
    """A Stable-Baselines3 ``BaseCallback`` that marks rollouts as generation and what lies between them as training."""
    from stable_baselines3.common.callbacks import BaseCallback  # type: ignore[import-not-found,unused-ignore]

    marks = Marks(Path(run) / "phases.jsonl", by_hand=True)

    class Phases(BaseCallback):  # type: ignore[misc,unused-ignore]
        _phase: Any = None

        def _on_rollout_start(self) -> None:
            self._turn("generation")

        def _on_rollout_end(self) -> None:
            self._turn("training")

        def _on_training_end(self) -> None:
            self._turn(None)
            marks.step_ended(self.num_timesteps)

        def _turn(self, phase: str | None) -> None:
            if self._phase is not None:
                self._phase.__exit__(None, None, None)
            if phase == "generation" and self._phase is not None:
                marks.step_ended(self.num_timesteps)
            self._phase = None if phase is None else marks(phase)
            if self._phase is not None:
                self._phase.__enter__()

        def _on_step(self) -> bool:
            return True

    return Phases()
