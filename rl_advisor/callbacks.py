"""Callbacks that let a trainer ask for a judgement of itself: a line when it changes, a report at the end, a stop where that is wanted.

They judge what is on disk below the run's folder, and see to it that the trainer's own log is there: TRL writes it only when it saves,
Stable-Baselines3 only where a logger was asked to, verl nowhere. Nothing that goes wrong in here ends a training.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_advisor.tools.listener import Listener

LOG = "rl-advisor-log.jsonl"


class StopAdvised(RuntimeError):  # noqa: N818 - what happens, not what failed
    """Ends a training whose trainer can be ended in no other way; raised only where ``stop`` was asked for."""


def trl_callback(run: str | Path, every: int = 50, *, stop: bool = False, **how: Any) -> Any:
    """A transformers ``TrainerCallback``; ends training, after saving, only if ``stop``. ``run`` is the trainer's ``output_dir``.

    ``how``: ``rules``, ``grace``, ``report`` and ``to`` of ``Listener``.
    """
    from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every, **how)

    class Advisor(TrainerCallback):  # type: ignore[misc,unused-ignore]
        def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
            if not listener.due(state.global_step):
                return
            advised = False
            if state.is_world_process_zero:
                _kept(state)
                advised = listener.stop_advised(state.global_step)
            if stop and _everywhere(advised):
                control.should_save = control.should_training_stop = True

        def on_train_end(self, _args: Any, state: Any, _control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                _kept(state)
                listener.finish()

    def _kept(state: Any) -> None:
        # What ``trainer.save_state()`` writes at the end; without it nothing is on disk before the first checkpoint.
        listener.run.mkdir(parents=True, exist_ok=True)
        state.save_to_json(str(listener.run / "trainer_state.json"))

    return Advisor()


def _everywhere(advised: bool) -> bool:
    """What the first process was advised, in every process: one that stopped alone would leave the others waiting for it."""
    from accelerate.utils import broadcast_object_list  # type: ignore[import-not-found,unused-ignore]

    return bool(broadcast_object_list([advised])[0])


def sb3_callback(run: str | Path, every: int = 10_000, *, stop: bool = False, **how: Any) -> Any:
    """A Stable-Baselines3 ``BaseCallback``; ``every`` counts calls of the environment.

    Ends training, after saving the model, only if ``stop``. ``how``: ``rules``, ``grace``, ``report`` and ``to`` of ``Listener``.
    """
    from stable_baselines3.common.callbacks import BaseCallback  # type: ignore[import-not-found,unused-ignore]
    from stable_baselines3.common.logger import CSVOutputFormat, JSONOutputFormat  # type: ignore[import-not-found,unused-ignore]

    listener = Listener(run, every, **how)

    class Advisor(BaseCallback):  # type: ignore[misc,unused-ignore]
        def _on_training_start(self) -> None:
            listener.run.mkdir(parents=True, exist_ok=True)
            listener.planned = self.locals.get("total_timesteps")
            if not any(isinstance(f, CSVOutputFormat | JSONOutputFormat) for f in self.logger.output_formats):
                self.logger.output_formats.append(JSONOutputFormat(str(listener.run / "progress.json")))

        def _on_step(self) -> bool:
            if not (listener.stop_advised(self.n_calls) and stop):
                return True
            self.model.save(str(listener.run / f"stopped_{self.num_timesteps}_steps"))
            return False

        def _on_training_end(self) -> None:
            listener.finish()

    return Advisor()


def lightning_callback(run: str | Path, every: int = 50, *, stop: bool = False, **how: Any) -> Any:
    """A Lightning ``Callback``; ends training only if ``stop``. ``run`` is where its logger writes (``CSVLogger``, ``TensorBoardLogger``).

    ``how``: ``rules``, ``grace``, ``report`` and ``to`` of ``Listener``.
    """
    try:
        from lightning.pytorch.callbacks import Callback  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from pytorch_lightning.callbacks import Callback  # type: ignore[import-not-found,no-redef,unused-ignore]

    listener = Listener(run, every, **how)

    class Advisor(Callback):  # type: ignore[misc,unused-ignore]
        def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
            if not listener.due(trainer.global_step):
                return
            advised = False
            if trainer.is_global_zero:
                for logger in trainer.loggers:
                    logger.save()
                advised = listener.stop_advised(trainer.global_step)
            if stop and trainer.strategy.broadcast(advised):
                trainer.should_stop = True

        def on_fit_end(self, trainer: Any, *_: Any) -> None:
            if trainer.is_global_zero:
                listener.finish()

    return Advisor()


class Log:
    """A logger for trainers that hand each step to one: keeps the rows in the run's folder and judges them.

    ``log(data, step)`` and ``finish()`` are what verl's ``Tracking`` calls its backends by, and what loops of one's own may call.
    """

    def __init__(self, run: str | Path, every: int = 10, *, stop: bool = False, **how: Any) -> None:
        """``how``: ``rules``, ``grace``, ``report`` and ``to`` of ``Listener``."""
        self._listener, self._stop, self._ended = Listener(run, every, **how), stop, False

    def log(self, data: Mapping[str, Any], step: int) -> None:
        """Keep a step's numbers.

        Raises:
            StopAdvised: stopping is advised, and was asked for.
        """
        row = {name: float(value) for name, value in data.items() if _is_number(value)}
        self._listener.run.mkdir(parents=True, exist_ok=True)
        with (self._listener.run / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": int(step)} | {n: v if math.isfinite(v) else str(v) for n, v in row.items()}) + "\n")
        if self._listener.stop_advised(step) and self._stop:
            self.finish()
            raise StopAdvised(f"rl-advisor advises to stop at step {step}")

    def finish(self) -> None:
        """Write the report, once."""
        if not self._ended:
            self._ended = True
            self._listener.finish()


def _is_number(value: Any) -> bool:
    """Whether it is one number: Python's, numpy's or a tensor's."""
    if isinstance(value, bool | str | bytes):
        return False
    try:
        float(value)
    except (TypeError, ValueError, RuntimeError):  # a tensor of several elements raises the last
        return False
    return True


def verl_hook(run: str | Path, every: int = 10, *, stop: bool = False, **how: Any) -> Log:
    """The log that every ``Tracking`` of verl made from now on hands its steps to; call it in the process that trains, before ``fit``.

    verl has no callbacks and a fixed list of loggers; its ``Tracking`` calls ``log(data=, step=)`` of each.
    """
    import atexit

    from verl.utils.tracking import Tracking  # type: ignore[import-not-found,unused-ignore]

    log, begin = Log(run, every, stop=stop, **how), Tracking.__init__

    def with_ours(self: Any, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        self.logger["rl_advisor"] = log

    Tracking.__init__ = with_ours
    atexit.register(log.finish)
    return log
