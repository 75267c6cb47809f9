"""The verdict: rules in the order in which a practitioner asks, each giving a verdict and the cause it rests on, or passing on.

First whether anything can be told, then whether something is broken (gamed, collapsed, unlearned, swinging, declining), and
only then whether the healthy run is still rising or has had its say.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rl_advisor import course, trajectory
from rl_advisor.assessment import Confidence, Verdict
from rl_advisor.diagnosis import with_role
from rl_advisor.finding import Finding, Outcome, Role, number
from rl_advisor.judgement.case import Case
from rl_advisor.judgement.causes import before, root_of_fall, roots
from rl_advisor.kinds import families
from rl_advisor.trajectory import Shape
from rl_advisor.vocabulary import Link


@dataclass(frozen=True)
class Judged:
    """A verdict, what it rests on and how sure it is."""

    verdict: Verdict
    why: str
    confidence: Confidence
    cause: Finding | None = None
    """The first break; None when nothing is broken or when what broke is not in the log."""
    link: Link | None = None
    """The link of the first break where no finding names it."""


STRONG = 2.0
"""Weight from which a finding decides a verdict alone."""
FEW = 12
"""Points of a curve below which its fall alone, without a cause, is no sure collapse."""


def judge(case: Case) -> Judged:
    """The first rule that answers."""
    return next(found for rule in RULES if (found := rule(case)) is not None)


def too_short(case: Case) -> Judged | None:
    """Undecidable when no outcome curve can carry a shape."""
    if case.outcome is None and not case.present("non_finite"):
        return Judged("undecidable", "no reward or score is logged with enough points", "low")
    return None


def too_early(case: Case) -> Judged | None:
    """Undecidable when next to nothing of the plan is done and the few points show neither a fall nor NaN."""
    s, planned = case.outcome, case.run.planned_steps
    if s is None or not planned or case.step > 0.03 * planned or s.n >= 40 or case.present("collapse", "non_finite"):
        return None
    return Judged("undecidable", f"{number(100 * case.step / planned)} percent of the plan is too early to tell", "low")


def learned_by_heart(case: Case) -> Judged | None:
    """Degrading when the reward on repeated prompts rises and the score falls."""
    if case.present("memorised_data") and case.held is not None and case.held.fell:
        return Judged(
            "degrading", "the reward rises on prompts learned by heart, the held-out score falls", "high", case.findings["memorised_data"]
        )
    return None


def eval_changed(case: Case) -> Judged | None:
    """A step of the evaluation alone says nothing about the policy: the training reward decides."""
    if not case.present("eval_protocol_change") or case.train is None:
        return None
    return Judged(_way(case.train), "the evaluation changed, training did not", "low", case.findings["eval_protocol_change"])


def gamed(case: Case) -> Judged | None:
    """Reward hacking when reward and score part, or the samples alone show a short-cut while the reward rises."""
    found = [case.findings[p] for p in with_role(Role.GAMING) if case.present(p)]
    if not found:
        return None
    with_score = case.present("reward_sign") or (case.present("train_eval_gap") and bool(course.departures(case.run)))
    if {f.pattern for f in found} == {"train_eval_gap"} and (not with_score or "control" in families(case.run)):
        # Reward and score part, yet nothing else about the behaviour changed; or both are returns of the same task, sampled and greedy
        # actions apart: a decline, not a game.
        return None
    if not with_score and (case.train is None or case.train.fell or _score_stands(case)):
        return None
    sign = case.findings.get("reward_sign")
    cause = sign if case.present("reward_sign") else found[0]
    return Judged("reward_hacking", "the reward is paid for something other than the task", "high" if with_score else "medium", cause)


def _score_stands(case: Case) -> bool:
    """Whether a held-out score, however short, ends no lower than it began: then samples alone call nothing a hack."""
    if case.held is not None:
        return not case.held.fell
    curve = trajectory.held_out(case.run)
    value = curve.finite()[1] if curve is not None else np.empty(0)
    return bool(value.size >= 2 and value[-1] >= value[0])


def blind_reward(case: Case) -> Judged | None:
    """Without a held-out score, and with a reward that pays answers which contradict one another: gamed when it rose, else not learning.

    A reward that also gives the same response different values rose by luck.
    """
    if trajectory.held_out(case.run) is not None or not case.present("contradicting_answers"):
        return None
    cause, s = case.findings["contradicting_answers"], case.train
    if s is None or s.fell:
        return None
    if s.rose and s.last - s.start > s.margin and not case.present("reward_inconsistent"):
        return Judged("reward_hacking", "the reward rose and pays answers that contradict one another", "medium", cause)
    return Judged("not_learning", "the reward does not tell right answers from wrong ones", "medium", cause)


def dissolved(case: Case) -> Judged | None:
    """Collapsed when the policy became deterministic at once and no group has spread any more, below what it had reached."""
    found = case.findings.get("entropy_collapse")
    if found is None or not case.present("entropy_collapse") or case.outcome is None or case.outcome.direction() == "rising":
        return None
    gone = found.measures.get("share_left", 1.0) < 0.02 and not found.measures.get("flat_groups", 1.0) < 0.95
    return Judged("collapsed", "the policy says one thing only", "medium", found) if gone else None


def suspected(case: Case) -> Judged | None:
    """Undecidable when the reward rose together with signs of gaming that decide nothing, and no score was ever logged that could."""
    s = case.train
    if s is None or trajectory.held_out(case.run) is not None or not s.rose or s.fell:
        return None
    signs = [p for p in (*with_role(Role.GAMING), "length_inflation") if p in case.findings and case.findings[p].outcome is Outcome.UNCLEAR]
    if not signs:
        return None
    told = f"the reward rose, {signs[0].replace('_', ' ')} cannot be told apart from progress without a held-out score"
    return Judged("undecidable", told, "low")


def lost(case: Case) -> Judged | None:
    """Collapsed when the training reward, or the only curve there is, lost most of its height; degrading when the score alone did."""
    if not case.present("collapse"):
        return None
    gone = [s for s in (case.train, case.held) if s is not None and s.fell and s.lost >= 0.6]
    policy = case.train is None or case.train in gone or case.train.last - case.train.floor <= case.train.margin
    if (
        case.held is not None
        and case.held not in gone
        and (case.present("reward_jump", "dynamics_change") or "control" in families(case.run))
    ):
        # Two samples of one task, or a reward that changed by itself: the score, which stands higher, says what is left of the policy.
        policy = False
    cause = root_of_fall(case)
    verdict: Verdict = "collapsed" if policy else "degrading"
    sure: Confidence = "high" if cause or max(s.n for s in gone) >= FEW else "medium"
    return Judged(verdict, f"{gone[0].name} lost most of its height", sure, cause, None if cause else Link.POLICY_UPDATE)


def numbers_broke(case: Case) -> Judged | None:
    """Collapsed when the numerics broke to the end of the log."""
    if not case.present("non_finite"):
        return None
    broke = case.findings["non_finite"]
    earlier = (f for f in roots(case, of_fall=True) if f.link is not Link.SYSTEMS and before(f, broke))
    return Judged("collapsed", "the numbers are no numbers any more", "high", next(earlier, broke))


def swinging(case: Case) -> Judged | None:
    """Unstable when the outcome turns again and again."""
    s = case.outcome
    thrown = case.present("update_too_large") and s is not None and s.lost > 0.5 and not s.broke_off
    if case.present("instability") or thrown or (s is not None and _back_from_a_dip(s)):
        cause = root_of_fall(case)
        return Judged("unstable", "the outcome swings without getting anywhere", "medium", cause, None if cause else Link.POLICY_UPDATE)
    return None


def never_learned(case: Case) -> Judged | None:
    """Not learning when a link before the outcome is silent, or nothing was gained and there is room."""
    silent = [case.findings[p] for p in with_role(Role.SILENCE, STRONG) if case.present(p)]
    if silent:
        quiet = next((f for f in roots(case) if f in silent or f.pattern == "truncation"), silent[0])
        return Judged("not_learning", quiet.statement, "high", quiet)
    if case.present("no_gain"):
        cause = next(iter(roots(case)), None)
        if cause is None and case.held is not None and case.train is not None and (case.train.at_ceiling or case.train.touches_ceiling):
            solved = "the training prompts are solved already, the held-out score has room and does not move"
            return Judged("not_learning", solved, "medium", None, Link.TRAINING_SIGNAL)
        return Judged("not_learning", "nothing was gained since the start", "medium", cause, None if cause else Link.REWARD_SIGNAL)
    return None


def declining(case: Case) -> Judged | None:
    """Degrading when the outcome ends below its best for good and is not on its way back."""
    s = case.outcome
    if s is None or not case.present("decline") or s.direction() == "rising" or _reward_stands(case):
        return None
    cause = root_of_fall(case)
    return Judged("degrading", f"{s.name} is past its best", "medium", cause, None if cause else Link.POLICY_UPDATE)


def _reward_stands(case: Case) -> bool:
    """Whether the reward, with many more points than the score, neither fell nor rose on: then a low end of the score is noise."""
    held, train = case.held, case.train
    return held is not None and train is not None and train.n >= 3 * held.n and not train.fell and train.direction() != "rising"


def healthy(case: Case) -> Judged | None:
    """Improving or plateaued, with the cause when the plateau has one."""
    s = case.outcome
    if s is None:
        return Judged("undecidable", "no outcome could be measured", "low")
    if s.direction() == "undecidable" and case.train is not None and case.train.n >= 2 * s.n:
        s = case.train  # few evaluations: the reward, which no detector distrusts here, says more
    if case.present("entropy_collapse"):
        return Judged("plateaued", "the policy is certain and the signal is gone", "medium", case.findings["entropy_collapse"])
    limit = limiting(case)
    if case.present("still_improving"):
        # A reward that nothing checks, neither a score nor a sample, is weak evidence of progress.
        unchecked = case.held is None and not len(case.run.rollouts) and "control" not in families(case.run)
        sure: Confidence = "low" if unchecked else "medium" if limit else "high"
        return Judged("improving", f"{s.name} or the reward is still rising", sure, limit)
    if case.present("plateau", "drift_without_gain"):
        limit = limit or critic(case, s)
        return Judged("plateaued", f"{s.name} is flat over the last third", "medium" if limit else "high", limit)
    if s.n < FEW and not s.rose:
        return Judged("undecidable", f"{s.n} points of {s.name} are too few to tell", "low")
    way = _way(s, *(x for x in (case.held, case.train) if x is not None), until=float(case.run.planned_steps or 0))
    return Judged(
        way, "the last third is undecided; its forecast decides", "low", limit or (critic(case, s) if way == "plateaued" else None)
    )


def limiting(case: Case) -> Finding | None:
    """What is broken although the outcome stands: a break that needs no fall to be one. None where nothing of the kind is there."""
    for pattern in with_role(Role.LIMIT):
        found = case.findings.get(pattern)
        if found is None or not case.present(pattern):
            continue
        if pattern != "update_too_large" or found.measures.get("out of all bounds"):
            return found
    return None


def critic(case: Case, s: Shape, never: float = 0.2) -> Finding | None:
    """A curve that came to rest below its ceiling while the critic never predicted anything has a likely cause."""
    found = case.findings.get("critic_failure")
    if found is None or s.at_ceiling or found.outcome not in (Outcome.PRESENT, Outcome.UNCLEAR):
        return None
    return found if case.present("critic_failure") or found.measures.get("nine_tenths_below", 1.0) < never else None


def _way(s: Shape, *others: Shape, until: float = 0.0) -> Verdict:
    """Improving when the forecasts foresee a gain that matters, plateaued otherwise; of two curves of one thing their mean."""
    ahead = [trajectory.pays_ahead(x, until) for x in (others or (s,))]
    return "improving" if float(np.mean(ahead)) > 0.5 and not s.at_ceiling else "plateaued"


def _back_from_a_dip(s: Shape) -> bool:
    """Whether the curve lost a good part of its height in the middle of the run and has gained nothing over its level before that."""
    high = np.maximum.accumulate(s.smoothed)
    bottom = int(np.argmax(high - s.smoothed))
    began = int(np.argmax(s.smoothed[: bottom + 1]))
    deep = s.deepest_dip > max(0.3 * (s.best - s.floor), 4 * s.scatter)
    half = (s.smoothed[bottom] + high[bottom]) / 2
    regained = max(half, s.smoothed[bottom] + s.margin) < s.last < high[bottom] + s.margin
    return bool(deep and not s.got_somewhere and began > s.n // 10 and regained)


RULES: tuple[Callable[[Case], Judged | None], ...] = (
    too_short,
    too_early,
    learned_by_heart,
    eval_changed,
    gamed,
    blind_reward,
    suspected,
    lost,
    numbers_broke,
    dissolved,
    swinging,
    never_learned,
    declining,
    healthy,
)
