"""GRPO runs as data: task, reward, what was changed and when, and how readings of it are admitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faults import Recipe

BASE: Mapping[str, Any] = {
    "learning_rate": 1e-3, "lr_scheduler_type": "constant", "beta": 0.02, "num_generations": 8, "per_device_train_batch_size": 64,
    "max_completion_length": 12, "temperature": 1.0, "max_grad_norm": 1.0, "gradient_checkpointing": False,
}  # fmt: skip
"""What works on these tasks with the small model."""


@dataclass(frozen=True)
class GrpoRecipe(Recipe):
    """``env`` is the task, ``changes`` are arguments of ``GRPOConfig``; ``later`` may hold ``learning_rate`` and ``reward``."""

    reward: str = "exact"
    right: float = 0.4
    """Share of right answers among the demonstrations that the model was warmed up on."""
    warm_up: int = 400
    """Steps of that."""
    logged_eval: bool = True
    """Whether the run logs the half of the held-out score that is not hidden."""


def grpo(family: str, task: str, note: str, *links: str, steps: int = 150, **more: Any) -> GrpoRecipe:
    """A recipe for a small language model."""
    return GrpoRecipe(family, task, "GRPO", steps, note, links, **more)


GRPO_RECIPES = (
    grpo("grpo-digit-sum-healthy", "digit-sum", "nothing was changed", seeds=(21,)),
    grpo("grpo-reverse-healthy", "reverse", "nothing was changed", seeds=(21,)),
    grpo("grpo-ordered-partial", "ordered", "nothing was changed; credit for single characters", reward="partial", seeds=(21,)),
    grpo("grpo-greatest-converged", "greatest", "nothing was changed; the model nearly knew the task", right=0.8, seeds=(21,)),
    grpo("grpo-reverse-unseen", "reverse", "nothing was changed; no held-out score is logged", logged_eval=False, seeds=(22,)),
    grpo(
        "grpo-reverse-lr-jump", "reverse", "the learning rate becomes fifty times larger at half of the run", "policy_update",
        later={"learning_rate": 0.05}, injected_at=75, seeds=(22,),
    ),
    grpo(
        "grpo-digit-sum-untied", "digit-sum", "no KL term, no clipping of gradients, and large steps", "policy_update",
        changes={"beta": 0.0, "learning_rate": 0.02, "max_grad_norm": 100.0}, seeds=(22,),
    ),
    grpo("grpo-greatest-long", "greatest", "the reward pays for length", "reward_signal", reward="long", hacks=True, seeds=(22,)),
    grpo(
        "grpo-ordered-loose", "ordered", "every answer is rewarded alike: groups have no spread", "reward_signal", "training_signal",
        reward="loose", seeds=(22,),
    ),
    grpo("grpo-digit-sum-reversed", "digit-sum", "the reward has the wrong sign", "reward_signal", reward="reversed", hacks=True, seeds=(22,)),
    grpo(
        "grpo-reverse-noise-late", "reverse", "the reward is a coin from half of the run on", "reward_signal",
        later={"reward": "noise", "learning_rate": 5e-3}, injected_at=75, seeds=(24,),
    ),
    grpo("grpo-greatest-healthy", "greatest", "nothing was changed", right=0.4, seeds=(25,)),
)  # fmt: skip
"""The runs of small language models of the first set that no rule was written on."""
