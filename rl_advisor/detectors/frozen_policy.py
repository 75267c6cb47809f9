"""The policy hardly moves although there is a signal to learn from.

Looks for: groups or batches with a healthy spread of reward, an outcome that gains nothing that matters and is not at its ceiling,
    and KL to the reference, entropy and length all close to where they began.
Means: a learning rate that is far too small or zero, a KL penalty that is far too strong, frozen parameters, or gradients that never
    arrive.
Not to be confused with: no signal (constant reward, groups without spread); convergence after a gain; a policy that moves and gains
    nothing.
Next test: ten steps with thirty times the learning rate, then ten with the penalty off: which of the two moves KL?
Source: AReaL's guide (rewards that do not rise: step size); KL stable and reward flat in the practitioner's guide.
"""

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.outcomes import Course
from rl_advisor.finding import Answer, Evidence, Onset, Role, absent, number, present, unclear
from rl_advisor.output.wording import percent
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE
ROLE = Role.SILENCE
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("reward/mean|reward/used", "kl/ref|kl/old|entropy/mean|policy/learning_rate")
FEWEST = 12
"""Points of the reward below which a policy that stands still may just be warming up."""
CHANGE: tuple[tuple[str, str], ...] = (("learning_rate", "thirty times"), ("kl_coef", "0"))


def detect(run: Run, still: float = 0.02, least: float = 0.05, steps: float = 1e-3) -> Answer:
    """Present when the reward has spread, gains less than a fifth of it, and the policy stays within ``still`` nats of its start.

    Also where the KL of every update is logged and all of them together cannot have changed ``least`` of the actions. Updates of more
    than ``steps`` nats are movement.
    """
    reward = outcomes.training(run)
    assert reward is not None  # diagnosis asked for it
    s = outcomes.course_of(reward)
    kl = run.curves.get("kl/ref")
    drift = float(np.median(segments.final(kl))) if kl is not None and kl.finite()[1].size else float("nan")
    rate = run.curves.get("policy/learning_rate")
    lr = float(np.max(rate.finite()[1])) if rate is not None and rate.finite()[1].size else float("nan")
    spread, alive = signal(run)
    gain = max(s.last - s.start, s.gain.delta)
    measures = {
        "kl_last": drift,
        "learning_rate": lr,
        "reward_gain": gain,
        "reward_spread": spread,
        "kl_coef": float(run.settings.get("kl_coef") or "nan"),
    }
    where = (Evidence(s.name, float(s.step[0]), float(s.step[-1])),)
    text = f"Reward gained {number(gain)}" + (f" against a spread of {number(spread)}" if np.isfinite(spread) else "")
    text += f"; KL to the reference ends at {number(drift)}" if np.isfinite(drift) else ""
    text += f", learning rate {number(lr)}" if np.isfinite(lr) else ""
    onset = Onset(float(s.step[0]), float(s.step[0]), float(s.step[0]))
    moved = bool(segments.departures(run, factor=1.3).keys() - {"kl/ref"}) or drift > still or _steps(run) > steps
    # A policy that moves or gains has another rate than 0, whatever is printed.
    if alive and lr == 0 and fine(run) and (little(s, gain, spread) or not moved):
        return present(f"{text}: the learning rate is zero.", onset, measures, where)
    reach = farthest(run)
    if alive and reach is not None and reach < least:
        text += f"; all updates together changed at most {percent(reach)} of the actions"
        return present(f"{text}.", onset, {**measures, "farthest": reach}, where)
    if alive and little(s, gain, spread) and not moved:
        early = bool(run.planned_steps) and run.last_step < 0.1 * float(run.planned_steps or 0)
        measured = spread > 0 and any(name in run.curves for name in ("kl/ref", "kl/old"))
        if early or not measured or s.n < FEWEST:
            why = "the run has hardly begun" if early or s.n < FEWEST else "neither a spread of rewards nor a KL is logged that would tell"
            return unclear(f"{text}; the policy seems not to move, but {why}.", onset, measures, where)
        return present(f"{text}: the policy hardly moves.", onset, measures, where)
    return absent(f"{text}.", measures=measures, evidence=where)


def fine(run: Run, decimals: int = 3) -> bool:
    """Whether numbers are logged with more decimals than these: a console of three prints 5e-7 as 0, which is no rate of 0."""
    values = (c.finite()[1] for c in run.curves.values())
    return any(bool(np.any(np.abs(v - v.round(decimals)) > 1e-9 * np.abs(v))) for v in values)


def farthest(run: Run, tenth: float = 0.1) -> float | None:
    """The most by which all updates together can have moved the policy, as a share of its actions; None where that is not logged.

    By Pinsker's inequality a KL of k nats changes at most the square root of k/2 of the probability, and the changes of single updates
    add up. Asked of a run only when its entropy stands still as well: the KL may be logged of one update in many.
    """
    kl, entropy = run.curves.get("kl/old"), run.curves.get("entropy/mean")
    if kl is None or entropy is None or entropy.finite()[1].size < 8 or kl.finite()[1].size < 0.8 * entropy.finite()[1].size:
        return None
    nats = entropy.finite()[1]
    if np.ptp(nats) > tenth * still_share(nats):
        return None
    return float(np.sqrt(np.clip(kl.finite()[1], 0, None) / 2).sum())


def _steps(run: Run) -> float:
    """The KL of a usual update; endless where nothing logged says whether the policy moves, for then it must not be called still."""
    kl = run.curves.get("kl/old")
    if kl is not None and kl.finite()[1].size:
        return float(np.median(np.abs(kl.finite()[1])))
    return 0.0 if any(name in run.curves for name in ("kl/ref", "entropy/mean")) else float("inf")


def still_share(nats: Floats) -> float:
    """What counts as no movement of an entropy: a hundredth of its level, at least a hundredth of a nat."""
    return max(0.01, 0.01 * float(np.median(np.abs(nats))))


def signal(run: Run) -> tuple[float, bool]:
    """Typical spread of the reward in a batch, and whether there is enough of it to learn from."""
    std, groups = run.curves.get("reward/std"), run.curves.get("reward/flat_groups")
    spread = float(np.median(std.finite()[1])) if std is not None and std.finite()[1].size else float("nan")
    flat = float(np.median(segments.final(groups))) if groups is not None and groups.finite()[1].size else 0.0
    return spread, flat < 0.8 and not spread <= 1e-6


def little(s: Course, gain: float, spread: float) -> bool:
    """Whether a gain is too small to matter: within the margin, or below a fifth of the reward's own spread with room above."""
    room = (s.ceiling - s.start) if s.ceiling is not None else float("inf")
    return not s.at_ceiling and (gain <= s.margin or (gain < 0.2 * spread and gain < 0.2 * room)) and not s.fell
