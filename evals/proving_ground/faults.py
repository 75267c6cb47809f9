"""What is broken in a run, when and how much; and what looks broken in sound ones.

A run is a table of knobs over its steps. A fault moves some knobs away from what they should be, from its onset on, by its dose; a habit
is a way of training that is sound and looks odd. Nothing else knows what was broken.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Range = tuple[str, str, float, float]
"""A knob, how it is changed (``x`` times, ``=`` set to), by the mildest and by the strongest dose."""


@dataclass(frozen=True)
class Fault:
    """One way to break the loop."""

    name: str
    links: tuple[str, ...]
    """The link it breaks first; more than one where the words touch."""
    changes: tuple[Range, ...]
    hacks: bool = False
    """Whether the reward may rise by it while the task does not."""
    needs: str = ""
    """What a task must have for it: ``tool``, ``replay``, ``critic``, ``soft``."""
    lasts: float = 1.0
    """For how much of what is left of the run it lasts at most; short ones are spikes."""

    def values(self, dose: float, healthy: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, npt.NDArray[np.float64]]:
        """The knobs as this dose sets them, over all steps."""
        made = {}
        for knob, how, mild, strong in self.changes:
            value = mild * (strong / mild) ** dose if mild * strong > 0 else mild + (strong - mild) * dose
            made[knob] = healthy[knob] * value if how == "x" else np.full_like(healthy[knob], value)
        return made


_F = Fault
BOTH = (
    _F("reward turned", ("reward_signal",), (("sign", "=", 0.5, -1.0),)),
    _F("reward of noise", ("reward_signal",), (("noise", "=", 0.3, 6.0),)),
    _F("reward not paid", ("reward_signal",), (("unpaid", "=", 0.3, 1.0),)),
    _F("reward always paid", ("reward_signal",), (("paid", "=", 0.3, 1.0),)),
    _F("advantage turned", ("training_signal",), (("gain_scale", "=", 0.4, -1.0),)),
    _F("rate too high", ("policy_update",), (("lr", "x", 4, 150), ("grad_limit", "x", 2, 50))),
    _F("rate too low", ("policy_update",), (("lr", "x", 0.2, 0.0),)),
    _F("rate spike", ("policy_update",), (("lr", "x", 20, 300), ("grad_limit", "x", 5, 100)), lasts=0.08),
    _F("no clip", ("policy_update",), (("clip_low", "x", 3, 1000), ("clip_high", "x", 3, 1000), ("lr", "x", 2, 10), ("passes", "=", 4, 4))),
    _F("entropy paid", ("exploration", "policy_update"), (("entropy", "=", 0.03, 1.0),), needs="policy"),
    _F("entropy punished", ("exploration",), (("entropy", "=", -0.02, -0.5),), needs="policy"),
    _F("sampled too hot", ("exploration",), (("temperature", "=", 1.4, 6.0),), needs="policy"),
    _F("stale policies", ("data_freshness",), (("stale", "=", 2, 16), ("lr", "x", 1.5, 4), ("passes", "=", 2, 4)), needs="policy"),
    _F("not a number", ("numerics",), (("nan", "=", 0.002, 0.3),)),
    _F("optimiser lost", ("numerics", "policy_update"), (("forget", "=", 1, 1), ("lr", "x", 3, 30)), lasts=0.3),
    _F("episodes broken off", ("environment_data", "systems"), (("early_end", "=", 0.1, 0.9),)),
)
TOKENS = (
    _F("prompts scrambled", ("environment_data",), (("template", "=", 0.15, 1.0),)),
    _F("prompts too hard", ("environment_data",), (("low", "=", 0.5, 0.97),)),
    _F("few prompts", ("environment_data",), (("pool", "=", 64, 2), ("lr", "x", 1.5, 4))),
    _F("answers cut", ("environment_data",), (("cap", "x", 0.75, 0.25),)),
    _F("ends masked", ("environment_data", "training_signal"), (("end_masked", "=", 1, 1), ("lr", "x", 1, 3))),
    _F("tool fails", ("environment_data", "systems"), (("tool_error", "=", 0.3, 1.0), ("true_tool_error", "=", 0.3, 1.0)), needs="tool"),
    _F("evaluation cut", ("evaluation",), (("eval_cap", "x", 0.75, 0.3),)),
    _F("evaluation hot", ("evaluation",), (("eval_temperature", "=", 1.6, 5.0),)),
    _F("evaluation harder", ("evaluation",), (("eval_low", "=", 0.6, 0.98),)),
    _F("evaluation leaks", ("evaluation",), (("eval_leak", "=", 1, 1), ("pool", "=", 64, 2))),
    _F("wrong answers", ("reward_signal",), (("wrong_gold", "=", 0.15, 1.0),)),
    _F("length paid", ("reward_signal",), (("long_pay", "=", 0.3, 4.0),), hacks=True),
    _F("praise paid", ("reward_signal",), (("praise_pay", "=", 0.3, 4.0),), hacks=True),
    _F("verifier leaks", ("reward_signal",), (("leak", "=", 0.4, 1.0),), hacks=True),
    _F("format outweighs", ("reward_signal",), (("format", "=", 1, 5), ("exact", "=", 1, 1), ("unpaid", "=", 0, 0)), hacks=True),
    _F("no baseline", ("training_signal",), (("baseline", "=", 0, 0), ("standard", "=", 0, 0))),
    _F("penalty outweighs", ("policy_update",), (("kl", "=", 0.3, 20.0),)),
    _F("penalty turned", ("policy_update",), (("kl", "=", -0.03, -1.0),)),
    _F("engine differs", ("data_freshness", "numerics"), (("mismatch", "=", 0.3, 4.0),)),
)
GAMES = (
    _F("actions mixed", ("environment_data",), (("actions_mixed", "=", 0.15, 1.0),)),
    _F("senses noisy", ("environment_data",), tuple((f"{who}_noise", "=", 0.2, 3.0) for who in ("seen", "eval", "true"))),
    _F("senses unscaled", ("environment_data",), (("seen_scale", "x", 5, 200),)),
    _F("episodes capped", ("environment_data",), (("cap", "=", 0.5, 0.08),)),
    _F("evaluation capped", ("evaluation",), (("eval_cap", "=", 0.7, 0.1),)),
    _F("evaluation noisy", ("evaluation",), (("eval_noise", "=", 0.3, 4.0),)),
    _F("reward scaled", ("reward_signal", "training_signal"), (("scale", "x", 10, 3000),)),
    _F("short-sighted", ("training_signal",), (("gamma", "=", 0.85, 0.0),)),
    _F("critic starved", ("training_signal",), (("critic_rate", "x", 0.05, 0.0),), needs="critic"),
    _F("critic wild", ("training_signal",), (("critic_rate", "x", 20, 300),), needs="critic"),
    _F("target frozen", ("training_signal",), (("target_rate", "x", 0.05, 0.0),), needs="replay"),
    _F(
        "target too fast",
        ("training_signal",),
        (("target_rate", "=", 0.3, 1.0), ("double", "=", 0, 0), ("huber", "=", 10, 1e4)),
        False,
        "replay",
    ),
    _F("replay tiny", ("data_freshness",), (("replay", "=", 0.03, 0.001),), needs="replay"),
    _F("explores for ever", ("exploration",), (("explore", "=", 0.5, 1.0),), needs="replay"),
    _F("never explores", ("exploration",), (("explore", "=", 0.01, 0.0),), needs="replay"),
    _F("temperature runs away", ("exploration",), (("soft", "x", 10, 1000),), needs="soft"),
)
FAULTS: Mapping[str, Fault] = {f.name: f for f in BOTH + TOKENS + GAMES}

ONE, NONE = 1.0, 0.0
SHARED = {
    "lr": 0.002, "grad_limit": ONE, "clip_low": 0.2, "clip_high": 0.2, "entropy": NONE, "temperature": ONE, "passes": ONE, "stale": NONE,
    "sign": ONE, "noise": NONE, "scale": ONE, "unpaid": NONE, "paid": NONE, "early_end": NONE, "standard": ONE, "gain_scale": ONE,
    "nan": NONE, "forget": NONE,
}  # fmt: skip
"""The knobs of every learner and where they stand when nobody touches them."""
OF_TOKENS = SHARED | {
    "kl": NONE, "mismatch": 0.003, "long_pay": NONE, "praise_pay": NONE, "exact": ONE, "format": 0.1, "leak": NONE, "wrong_gold": NONE,
    "low": NONE, "high": ONE, "pool": 4096, "cap": 16, "tool_error": 0.05, "template": NONE, "end_masked": NONE, "baseline": ONE,
    "eval_leak": NONE,
} | {f"{who}_{what}": v for who in ("true", "eval")
     for what, v in (("low", 0.0), ("high", 1.0), ("temperature", 1.0), ("cap", 16.0), ("tool_error", 0.05))}  # fmt: skip
OF_GAMES = SHARED | {
    "gamma": 0.98, "lam": 0.95, "critic_rate": ONE, "seen_noise": NONE, "seen_scale": ONE, "actions_mixed": NONE, "cap": ONE,
    "cut_is_end": NONE, "explore": 0.05, "target_rate": 0.02, "replay": ONE, "soft": NONE, "double": ONE, "huber": ONE,
    "true_noise": NONE, "eval_noise": NONE, "true_cap": ONE, "eval_cap": ONE, "true_greedy": ONE, "eval_greedy": ONE,
}  # fmt: skip

OF_VALUES = {"gamma": ONE, "lam": 0.98, "critic_rate": ONE}
"""The knobs that a value model over tokens adds."""
OF_CRITICS = tuple(f for f in GAMES if all(knob in OF_VALUES for knob, *_ in f.changes))

Schedule = list[list[float]]
"""Pairs of (share of the plan, value), with straight lines between them."""
Knob = float | Schedule


@dataclass(frozen=True)
class Broken:
    """A fault as it was put into a run."""

    fault: str
    dose: float
    onset: float
    """Share of the plan at which it sets in; 0 for one that is there from the start."""
    until: float = 1.0


def table(base: Mapping[str, Knob], broken: list[Broken], steps: int) -> dict[str, npt.NDArray[np.float32]]:
    """Every knob at every step: the healthy schedule with the faults laid over it, later ones over earlier ones."""
    at = np.arange(steps) / max(1, steps - 1)
    made = {name: np.interp(at, *np.transpose(v)) if isinstance(v, list) else np.full(steps, float(v)) for name, v in base.items()}
    healthy = {name: value.copy() for name, value in made.items()}
    for one in broken:
        on = (at >= one.onset) & (at <= one.until)
        for name, value in FAULTS[one.fault].values(one.dose, healthy).items():
            made[name] = np.where(on, value, made[name])
    return {name: value.astype(np.float32) for name, value in made.items()}
