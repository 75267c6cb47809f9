"""Two entries of the log cannot both be what their names say.

Looks for: clipping with one update a batch; KL above zero at step zero, or below zero by an estimator that cannot be; a mean reward
    outside its lowest and highest, or that no sum of its parts gives; lengths above their limit, or truncation far below it; a gradient
    although no group has spread; an entropy above that of any vocabulary; a rate that leaves its schedule; zeros all along.
Means: a name means something else here, a mask or a weight is wrong, or a number was never filled in. What is read from such a curve is
    worth nothing until that is known.
Not to be confused with: averages over several steps, which blur what holds in each; rewards gated by one part, which no sum gives.
Next test: print both numbers for one batch, next to the same numbers computed by hand.
Source: invariants of training metrics, in the manner of checks inferred from correct runs (TrainCheck).
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from rl_advisor.finding import Answer, Evidence, Onset, Outcome, Role, absent, number
from rl_advisor.output.wording import percent
from rl_advisor.run import Floats, Run
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
ROLE = Role.SYMPTOM
NEEDS: tuple[str, ...] = (
    "reward/mean|reward/used|kl/ref|kl/old|ratio/clip_fraction|response/length_max|policy/learning_rate|policy/grad_norm|entropy/mean",
)
Broken = tuple[str, str, float]
"""Metric, what is wrong with it, and the first step at which it is."""
LOG_VOCABULARY = 13.0
"""Logarithm of a vocabulary of 440,000 tokens, more than any in use; nats."""
FILLED = ("entropy/mean", "kl/ref", "kl/mismatch", "value/loss")
"""Metrics that cannot be exactly zero all along while a policy learns."""


def together(run: Run, *names: str) -> list[Floats]:
    """The steps that all the curves share, then their values there; empty arrays when one is missing."""
    curves = [run.curves.get(name) for name in names]
    known = [c.finite() for c in curves if c is not None]
    if len(known) < len(names):
        return [np.empty(0)] * (len(names) + 1)
    step = known[0][0]
    for other, _ in known[1:]:
        step = np.intersect1d(step, other)
    return [step, *(value[np.isin(at, step)] for at, value in known)]


def first(name: str, what: str, step: Floats, wrong: npt.NDArray[np.bool_], share: float = 0.0) -> Iterator[Broken]:
    """The violation at its first step, when more than ``share`` of the points show it."""
    if step.size and np.mean(wrong) > share:
        yield name, what, float(step[int(np.argmax(wrong))])


def clipped_at_once(run: Run) -> Iterator[Broken]:
    """Nothing can be clipped when every batch is used for one update."""
    if run.settings.get("updates_per_batch") == 1 and run.settings.get("minibatches") == 1:
        step, value = together(run, "ratio/clip_fraction")
        yield from first("ratio/clip_fraction", "is above 0 although each batch serves one update", step, value > 1e-6, 0.1)


def kl_at_zero(run: Run, least: float = 0.02) -> Iterator[Broken]:
    """Before the first update the policy is its reference."""
    step, value = together(run, "kl/ref")
    if step.size and step[0] == 0 and value[0] > least:
        yield "kl/ref", f"reads {number(float(value[0]))} at step 0, where the policy is its reference", 0.0


def kl_below_zero(run: Run) -> Iterator[Broken]:
    """The k3 estimator is never negative."""
    for name in ("kl/ref", "kl/old", "kl/mismatch"):
        curve = run.curves.get(name)
        if curve is not None and curve.note.startswith("k3"):
            step, value = curve.finite()
            yield from first(name, "is below 0, which its estimator (k3) cannot be", step, value < -1e-6)


def reward_bounds(run: Run) -> Iterator[Broken]:
    """A mean lies between the lowest and the highest."""
    step, mean, low, high = together(run, "reward/mean", "reward/min", "reward/max")
    slack = 1e-3 * (np.abs(high) + np.abs(low)) + 1e-6
    yield from first("reward/mean", "lies outside the lowest and highest reward", step, (mean < low - slack) | (mean > high + slack), 0.1)


def reward_parts(run: Run, left: float = 0.3) -> Iterator[Broken]:
    """With fixed weights the reward is a linear function of its parts."""
    parts = sorted(run.family("reward/component/"))
    step, mean, *values = together(run, "reward/mean", *parts)
    if len(parts) < 2 or step.size < 10 * len(parts) or np.var(mean) < 1e-12:
        return
    design = np.column_stack([np.ones(step.size), *values])
    found, *_ = np.linalg.lstsq(design, mean, rcond=None)
    missed = float(np.var(mean - design @ found) / np.var(mean))
    if missed > left:
        yield "reward/mean", f"is no weighted sum of its {len(parts)} parts ({percent(missed)} unexplained)", float(step[0])


def lengths(run: Run) -> Iterator[Broken]:
    """No response is longer than the limit, and what was cut has the limit's length."""
    cap = run.settings.get("max_response_length")
    if not isinstance(cap, int | float) or cap <= 0:
        return
    step, longest = together(run, "response/length_max")
    yield from first("response/length_max", f"exceeds the limit of {number(float(cap))} tokens", step, longest > cap + 1)
    step, longest, cut = together(run, "response/length_max", "response/truncated")
    short = (cut >= 0.5) & (longest < 0.9 * cap)
    yield from first("response/truncated", "says half are cut, yet none comes within 10 % of the limit", step, short)


def gradient_of_nothing(run: Run) -> Iterator[Broken]:
    """Without spread in any group, a penalty or a bonus there is no gradient."""
    if run.settings.get("kl_coef") != 0 or run.settings.get("entropy_coef") not in (None, 0):
        return
    step, flat, size = together(run, "reward/flat_groups", "policy/grad_norm")
    wrong = (flat >= 1) & (size > 1e-3 * (float(np.median(size)) if size.size else 1.0)) & (size > 1e-8)
    yield from first("policy/grad_norm", "is above 0 although no group has spread and no penalty is on", step, wrong, 0.02)


def entropy_of_any(run: Run) -> Iterator[Broken]:
    """The entropy of a token is at most the logarithm of the vocabulary."""
    if "response/length" in run.curves:
        step, value = together(run, "entropy/mean")
        what = f"is above {number(LOG_VOCABULARY)} nats, more than any vocabulary allows"
        yield from first("entropy/mean", what, step, value > LOG_VOCABULARY)


def schedule(run: Run) -> Iterator[Broken]:
    """A constant schedule is constant."""
    if str(run.settings.get("lr_schedule", "")).lower().rsplit(".", 1)[-1] != "constant":
        return
    step, rate = together(run, "policy/learning_rate")
    late = step > step[0] + 0.1 * (step[-1] - step[0]) if step.size else step > 0
    moved = np.abs(np.diff(rate[late])) > 1e-3 * np.max(rate, initial=0)
    yield from first("policy/learning_rate", "changes under a constant schedule", step[late][1:], moved)


def cadence(run: Run) -> Iterator[Broken]:
    """Evaluations come at one distance."""
    for name in run.family("eval/score/"):
        step, _ = together(run, name)
        gaps = np.diff(step)
        if gaps.size >= 6:
            usual = float(np.median(gaps))
            yield from first(name, "is measured at distances that vary by half or more", step[1:], np.abs(gaps - usual) > 0.5 * usual, 0.34)


def never_filled(run: Run) -> Iterator[Broken]:
    """Exact zeros all along are a placeholder, or nothing ever moved."""
    for name in FILLED:
        step, value = together(run, name)
        if step.size >= 20 and not value.any():
            yield name, "reads exactly 0 at every step: a placeholder, or nothing moved", float(step[0])


RULES: tuple[Callable[[Run], Iterator[Broken]], ...] = (
    clipped_at_once,
    kl_at_zero,
    kl_below_zero,
    reward_bounds,
    reward_parts,
    lengths,
    gradient_of_nothing,
    entropy_of_any,
    schedule,
    cadence,
    never_filled,
)


def detect(run: Run) -> Answer:
    """Present when a rule is broken; unclear when parts do not add up, the cadence varies or zeros stand: that may be meant."""
    wrong = [(rule, found) for rule in RULES for found in rule(run)]
    if not wrong:
        return absent("No two logged metrics contradict each other.")
    hard = [found for rule, found in wrong if rule not in (reward_parts, cadence, never_filled)]
    shown = sorted(hard or [found for _, found in wrong], key=lambda b: b[2])
    at = shown[0][2]
    text = "; ".join(f"{metric} {what} (from step {step:.0f})" for metric, what, step in shown[:3]) + "."
    where = tuple(Evidence(metric, step, step) for metric, _, step in shown[:3])
    outcome, onset = (Outcome.PRESENT, Onset(at, at, at)) if hard else (Outcome.UNCLEAR, None)
    return Answer(outcome, text, onset, {"violations": float(len(shown))}, where)
