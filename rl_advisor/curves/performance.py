"""How well the policy does, by the two curves that can say so: the held-out score and the training reward, weighed once for all.

A score of ten evaluations or more speaks nearly alone; with fewer the reward, which has many more points but another meaning, is heard
beside it. A score whose protocol changed, or a reward that changed by itself, is heard less. Nobody else asks which curve counts.
"""

from dataclasses import dataclass

from rl_advisor.curves import outcomes
from rl_advisor.curves.course import Course, course
from rl_advisor.run import Run

ENOUGH = 10
"""Points from which a curve speaks with its whole weight."""
BESIDE = 0.25
"""What the training reward weighs beside a held-out score that has enough points."""
DOUBTED = 0.2
"""What is left of the weight of a curve that changed for a reason outside the policy."""

REWARD_LOST = "reward lost"
"""The amount of both curves together: what the reward lost of its range, where a score is logged beside it."""


@dataclass(frozen=True, eq=False)
class Performance:
    """Both curves and how much each counts."""

    held: Course | None
    """The held-out score."""
    train: Course | None
    """The training reward."""
    held_doubted: bool = False
    """Whether it is heard less."""
    train_doubted: bool = False

    @property
    def weights(self) -> tuple[float, float]:
        """What the score and the reward weigh; they add up to one unless neither is there."""
        held = min(1.0, self.held.n / ENOUGH) * (DOUBTED if self.held_doubted else 1.0) if self.held else 0.0
        train = min(1.0, self.train.n / ENOUGH) * (1 - held + BESIDE) * (DOUBTED if self.train_doubted else 1.0) if self.train else 0.0
        both = held + train
        return (held / both, train / both) if both else (0.0, 0.0)

    @property
    def counts(self) -> Course | None:
        """The curve that the verdict speaks of."""
        held, train = self.weights
        return self.held if self.held is not None and held >= train else self.train or self.held

    def amounts(self) -> dict[str, float] | None:
        """The amounts of both curves by their weight, and what the reward lost where both are there; None when there is no curve."""
        held, train = self.weights
        if self.held is None or self.train is None:
            one = self.held or self.train
            return one.amounts if one else None
        score, reward = self.held.amounts, self.train.amounts
        unlike = 1 - score["gained"] * max(0.0, 1 - 2 * score["lost"])
        return {name: held * a + train * reward[name] for name, a in score.items()} | {REWARD_LOST: unlike * reward["lost"]}


def performance(run: Run) -> Performance:
    """Both curves of a run, measured."""
    held, train = outcomes.held_out(run), outcomes.training(run)
    return Performance(course(held) if held is not None else None, course(train) if train is not None else None)
