"""What no log or sample of today's trainers shows, and how to check it instead: said, so that silence is not taken for an all-clear.

Rows are kept by the kind of training they belong to; the kind is read off what a run has logged.
"""

from dataclasses import dataclass

from rl_advisor.curves.task import TRAITS, task
from rl_advisor.run import Run


@dataclass(frozen=True)
class BlindSpot:
    """One failure that stays out of sight: for whom it matters, why it cannot be seen, and the check that shows it."""

    failure: str
    family: str
    why: str
    check: str

    @property
    def line(self) -> str:
        """The row as one line."""
        return f"{self.failure}: {self.why}; check by {self.check}"


ROWS: tuple[BlindSpot, ...] = (
    BlindSpot(
        "likelihood of right answers",
        "tools",
        "that it sinks while the reward holds shows nowhere: trainers log no log-probability of the right episodes alone",
        "logging it on a fixed set of right episodes at every evaluation",
    ),
    BlindSpot(
        "state left unchanged by the tools",
        "tools",
        "text says what was called, not what it did",
        "replaying the last state of the highest-rewarded episodes",
    ),
    BlindSpot(
        "routing of experts",
        "experts",
        "which expert a token took is logged nowhere",
        "replaying one batch with the routing recorded while sampling",
    ),
    BlindSpot(
        "wrong template, end token or mask",
        "language",
        "curves show only its traces",
        "comparing log-probabilities of one batch between sampler and trainer, token by token",
    ),
    BlindSpot(
        "test answers in the training data",
        "language",
        "a score cannot tell knowing from having seen",
        "a test written after the model's data was collected, or the same gain from a random reward",
    ),
    BlindSpot(
        "length weighed by the loss",
        "language",
        "whether tokens or sequences are averaged shows in no curve",
        "reading how the loss is normalised, and comparing the lengths of right and wrong answers",
    ),
    BlindSpot(
        "old data in the replay buffer",
        "replay",
        "errors are logged for the mixture, not for old and new data apart",
        "the temporal-difference error on the newest and the oldest tenth of the buffer",
    ),
    BlindSpot(
        "dormant units",
        "replay",
        "activations and ranks of layers are not logged",
        "fitting random targets with the current network and with a fresh one",
    ),
    BlindSpot(
        "actions at their bounds",
        "control",
        "the distribution of actions is not logged",
        "a histogram of the actions against the bounds of the environment",
    ),
    BlindSpot(
        "statistics of the observations",
        "control",
        "running means and scales are not logged",
        "comparing those of training and evaluation, and freezing them for one evaluation",
    ),
    BlindSpot(
        "time limit treated as an end",
        "control",
        "a curve cannot tell a limit from a goal",
        "bootstrapping at the limit, and moving the limit once",
    ),
    BlindSpot(
        "episode borders off by one",
        "control",
        "advantages are logged as means",
        "printing one rollout around an automatic reset",
    ),
    BlindSpot(
        "loops that are paid",
        "control",
        "states are not logged",
        "watching episodes, or counting how often a state comes back",
    ),
    BlindSpot(
        "horizon and discount",
        "control",
        "one run has one discount",
        "a short sweep of discount and trace, scored by the undiscounted return",
    ),
    BlindSpot(
        "environments that move in step",
        "control",
        "returns are averaged over all of them",
        "desynchronising their resets, or doubling their number",
    ),
    BlindSpot(
        "luck of the seed",
        "any",
        "one run is one draw",
        "three to ten seeds, compared by interquartile mean and probability of improvement",
    ),
    BlindSpot(
        "weight transfer and full caches of the engine",
        "systems",
        "neither is in a trainer's metrics",
        "the engine's own metrics, by engine rather than averaged",
    ),
    BlindSpot(
        "a job that hangs",
        "systems",
        "a log that ends and one that stands still look the same",
        "whether the process lives while its log has not grown for half an hour",
    ),
    BlindSpot(
        "silent memory errors",
        "systems",
        "trainers do not log the error counters of the GPU; telemetry may hold them",
        "the driver's error log and the count of remapped rows",
    ),
)


def fitting(run: Run, most: int = 8) -> list[str]:
    """At most ``most`` lines on what cannot be seen in this kind of run: one of each kind first, the most particular kinds before."""
    known = [family for family in TRAITS if family in task(run).traits]
    by_family = [[row for row in ROWS if row.family == family] for family in (*known, "any")]
    longest = max(map(len, by_family))
    turns = [rows[i] for i in range(longest) for rows in by_family if i < len(rows)]
    return [row.line for row in turns[:most]]
