"""Everything the judgement looks at: the run, its findings by pattern, and the measured outcome curves."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rl_advisor.curves.band import bands
from rl_advisor.curves.course import FEWEST, Course
from rl_advisor.curves.performance import Performance, performance
from rl_advisor.curves.task import task
from rl_advisor.detectors import marked
from rl_advisor.finding import Finding, Outcome
from rl_advisor.judgement.diagnosis import diagnose
from rl_advisor.judgement.proven import proven
from rl_advisor.run import Run

SOLVED = 0.985
"""Share of the highest possible from which a task counts as solved."""
PARTED = 0.8
"""Probability from which the reward rose and stayed while the score did not."""
FOLLOWS = 1 / 6
"""Share of the reward's way that a score must rise to have risen with it, where both are shares."""


@dataclass(frozen=True, eq=False)
class Case:
    """One run as the judge sees it."""

    run: Run
    findings: Mapping[str, Finding]
    performance: Performance
    """The held-out score and the training reward, measured once and weighed."""

    def present(self, *patterns: str) -> bool:
        """Whether one of the patterns was found."""
        return any(p in self.findings and self.findings[p].outcome is Outcome.PRESENT for p in patterns)

    @cached_property
    def proven(self) -> list[Finding]:
        """What is proven without weighing, the surest first."""
        return proven(self.run)

    @cached_property
    def usual(self) -> frozenset[str]:
        """The metrics that go where they went in the sound runs that it is measured against; nothing where none were named."""
        return frozenset(b.name for b in bands(self.run) if b.usual) if self.run.sound else frozenset()

    @property
    def held(self) -> Course | None:
        """The held-out score, where it has points enough to say words of it."""
        return _long(self.performance.held)

    @property
    def train(self) -> Course | None:
        """The training reward likewise."""
        return _long(self.performance.train)

    @property
    def outcome(self) -> Course | None:
        """The curve that says how good the policy is."""
        return self.held or self.train

    @property
    def rose(self) -> float:
        """Probability that the held-out score rose; 0 where none is logged. Beside a reward that rose far, a sixth of its way is asked."""
        held, train = self.performance.held, self.performance.train
        if held is None:
            return 0.0
        far = FOLLOWS * (train.last - train.start) if train is not None and train.ceiling == held.ceiling == 1.0 else 0.0
        return min(held.rise(), held.rise(far))

    @property
    def progressed(self) -> float:
        """How surely the held-out score rose, and how much of its rise it kept: half of its range lost leaves nothing of it.

        In control an evaluation is paid by the same reward: losing there what training keeps is no gaming.
        """
        held = self.performance.held
        lost = held.amounts["lost"] if held is not None and "control" not in task(self.run).traits else 0.0
        return self.rose * max(0.0, 1 - 2 * lost)

    @property
    def paid(self) -> float:
        """Probability that the training reward rose; 0 where none is logged."""
        return self.performance.train.rise() if self.performance.train else 0.0

    @property
    def gamed(self) -> float:
        """Probability that the reward rose and kept it while the score did not; in control both are paid alike.

        A score that steps alone, once, from one evaluation to the next, was measured in another way: it says nothing of the reward.
        """
        train, held = self.performance.train, self.performance.held
        if train is None or held is None or self.present(*marked("doubts score")) or "control" in task(self.run).traits:
            return 0.0
        return self.paid * (1 - self.progressed) * max(0.0, 1 - 2 * train.amounts["lost"])

    @property
    def parted(self) -> bool:
        """Whether the score surely fell alone: what makes a policy worse would have taken the reward along."""
        return self.gamed >= PARTED

    @cached_property
    def solved(self) -> bool:
        """Whether the outcome stands at the highest there can be: a share of nearly one, or the cap at which its values pile up."""
        counts = self.performance.counts
        if self.held is None and not task(self.run).by_reward:  # pairs that were trained on may be known by heart
            return False
        top = counts.ceiling if counts is not None and counts.n >= FEWEST else None
        return counts is not None and top is not None and top > 0 and counts.last >= SOLVED * top

    @property
    def step(self) -> float:
        """The step at which the run is judged."""
        return self.run.last_step

    @property
    def remaining(self) -> float:
        """Share of the planned steps that is still to come; 0 when the plan is done or unknown."""
        planned = self.run.planned_steps
        return max(0.0, 1 - self.step / planned) if planned else 0.0


def _long(c: Course | None) -> Course | None:
    return c if c is not None and c.n >= FEWEST else None


def open_case(run: Run) -> Case:
    """The case of a run: every detector asked, both outcome curves measured."""
    return case_of(run, {f.pattern: f for f in diagnose(run)})


def case_of(run: Run, findings: Mapping[str, Finding]) -> Case:
    """The case of a run whose findings are known."""
    case = Case(run, findings, performance(run))
    held, train = (case.present(*marked(f"doubts {which}")) for which in ("score", "reward"))
    return replace(case, performance=replace(case.performance, held_doubted=held, train_doubted=train))
