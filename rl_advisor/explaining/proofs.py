"""What lines already prove, be there one of them or a thousand: relations between values that need no statistics.

Each function looks for one thing and gives a Proof or nothing. A proof may be that all is as it should be.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rl_advisor.explaining.rows import Rows
from rl_advisor.finding import number
from rl_advisor.vocabulary import Link


@dataclass(frozen=True)
class Cause:
    """A likely cause: where it lies, what it is, why it fits, and what would tell it from the others."""

    link: Link
    cause: str
    because: str
    tell_apart: str


@dataclass(frozen=True)
class Proof:
    """One thing that the lines prove."""

    says: str
    fault: bool = True
    causes: tuple[Cause, ...] = ()
    about: tuple[str, ...] = ()
    """Our names of the metrics that it speaks of."""
    ask: tuple[tuple[str, str], ...] = ()
    """Questions to the user, each with what its answer decides."""


VERSIONS = ("Which versions of the trainer, of the inference engine and of DeepSpeed or FSDP are these?", "whether it is a known, repaired fault")
CONFIG = ("Can you paste the launch command or the configuration?", "which of the causes is possible at all")
REWARDS = ("Which reward functions are used, and may I see ten samples with their rewards?", "whether the reward or the model is at fault")
CORE = ("policy/grad_norm", "policy/loss", "policy/total_loss", "value/loss", "entropy/mean", "kl/old", "policy/std", "advantage/mean")
SUBTRACTED = re.compile(r"(?i)penal|cost|repeti|overlong")
"""Parts of a reward that are subtracted: 0 is their best."""
LANGUAGE = ("grpo", "ppo_language", "language")


def proofs(rows: Rows) -> list[Proof]:
    """Everything that the lines prove, faults first."""
    found = [proof for look in LOOKS for proof in look(rows)]
    return sorted(found, key=lambda p: not p.fault)


def not_finite(rows: Rows) -> Iterator[Proof]:
    """Numbers that are none in what every update computes."""
    bad = [n for n in CORE if (v := rows.last(n)) is not None and not math.isfinite(v)]
    if not bad:
        return
    names = ", ".join(rows.called(n) for n in bad)
    critic = rows.last("value/loss")
    if critic is not None and math.isinf(critic) and rows.around.method not in LANGUAGE:
        says = f"{rows.called('value/loss')} is infinite: the critic was fed values without a bound. The policy has not turned NaN yet, but it will."
        outliers = Cause(
            Link.ENVIRONMENT_DATA, "outlying observations or rewards of the simulator reach the critic (unclipped actions, a diverging body)",
            "an infinite critic loss beside finite returns comes from single samples", "Log the largest reward term and the largest action, clip actions, and look whether it comes back.",
        )  # fmt: skip
        yield Proof(says, causes=(outliers,), about=tuple(bad), ask=(("What did the simulator do at that moment (video, largest penalty term)?", "whether physics or learning broke first"),))
        return
    says = f"{names} {'are' if len(bad) > 1 else 'is'} NaN or infinite: the weights are broken from that update on, and going on cannot mend them."
    overflow = Cause(
        Link.NUMERICS, "NaN in the update: an overflow in the loss (a k3 KL of an extreme log-ratio, half precision, a division by 0 length)",
        f"{names} turned non-finite together", "Resume from the last checkpoint before the first NaN, and log the largest log-ratio and the gradient norm of each update.",
    )  # fmt: skip
    yield Proof(says, causes=(overflow,), about=tuple(bad), ask=(VERSIONS, CONFIG))


def kl_not_computed(rows: Rows) -> Iterator[Proof]:
    """A KL that is NaN beside a live update."""
    kl = rows.values("kl/ref")
    core = [rows.last(n) for n in ("policy/grad_norm", "policy/loss", "reward/mean")]
    alive = [v for v in core if v is not None]
    if kl.size and np.isnan(kl).all() and alive and all(math.isfinite(v) for v in alive):
        says = f"{rows.called('kl/ref')} is NaN on every row while loss and reward are finite: with beta 0 no reference model is loaded and KL is not computed. That is no fault."
        yield Proof(says, fault=False, about=("kl/ref",))


def no_signal(rows: Rows) -> Iterator[Proof]:
    """Groups without spread, with or without a gradient."""
    flat, grad = rows.level("reward/flat_groups"), rows.level("policy/grad_norm")
    spread = rows.level("reward/std")
    dead = rows.always("policy/grad_norm", 0.0) if grad is not None else None
    flat_all = flat is not None and flat >= 0.98
    if rows.around.method not in (*LANGUAGE, None) or not (flat_all or dead):
        return
    level = rows.level("reward/mean")
    if flat_all or (dead and spread == 0):
        also = f" {rows.called('policy/grad_norm')} and loss are 0 because of it." if dead else ""
        says = f"All answers to a prompt get the same reward (zero variance in every group), so every advantage is 0 and nothing is learned.{also}"
        at = f" at a reward of {number(level)}" if level is not None else ""
        over = " A spread over the whole batch does not help: advantages are taken inside each group." if rows.family("reward/component_std/") or spread else ""
        easy = Cause(
            Link.TRAINING_SIGNAL, "every group has one reward: prompts far too easy or too hard, or answers that are all alike",
            f"no group has any spread{at}", "Print the rewards of one group, one by one: all at the top means too easy, all at the bottom too hard, identical texts a temperature or seed that is off.",
        )  # fmt: skip
        yield Proof(says + over, causes=(easy,), about=("reward/flat_groups", "policy/grad_norm", "policy/loss"), ask=(REWARDS,))
    elif dead and (spread or 0) > 0:
        says = f"{rows.called('policy/grad_norm')} is exactly 0 although rewards differ ({rows.called('reward/std')} {number(spread or 0)}): no update reaches the parameters."
        frozen = Cause(
            Link.POLICY_UPDATE, "no gradient arrives: frozen parameters, an adapter attached to nothing, optimizer states that are offloaded and lost",
            "a spread of reward without any gradient", "Print the trainable parameters, and run ten steps without offloading.",
        )  # fmt: skip
        yield Proof(says, causes=(frozen,), about=("policy/grad_norm", "policy/loss"), ask=(CONFIG, VERSIONS))


def cut_answers(rows: Rows) -> Iterator[Proof]:
    """Answers that end at the limit."""
    share = rows.level("response/truncated")
    if share is None:
        padded, least = rows.level("response/padded_max"), rows.level("response/length_min")
        share = padded if padded is not None and (padded > 0.3 or least == rows.level("response/length_max")) else None
    lengths = [rows.level(f"response/length{x}") for x in ("", "_min", "_max")]
    alike = None not in lengths and len(set(lengths)) == 1
    if (share is None or share < 0.3) and not alike:
        return
    percent = f"{100 * share:.0f} percent of the answers are" if share is not None and share < 1 else "Every answer is"
    where = f" ({number(lengths[2])} tokens)" if lengths[2] else ""
    says = f"{percent} cut at the length limit{where}: a cut answer is graded as a failure whatever it would have said."
    rambles = " No answer ends by itself, which is what broken weights do too." if alike else ""
    short = Cause(
        Link.ENVIRONMENT_DATA, "truncation: the completion length limit is too short for this model, or answers do not end (no end token, rambling)",
        f"{percent.lower()} cut", "Run one evaluation with twice the limit: a score that jumps means the limit, one that stays means rambling.",
    )  # fmt: skip
    yield Proof(says + rambles, causes=(short,), about=("response/truncated", "response/length"))


def deterministic(rows: Rows) -> Iterator[Proof]:
    """A policy without entropy."""
    entropy = rows.level("entropy/mean")
    if entropy is None or not 0 <= entropy < 1e-3 or rows.around.action == "continuous":
        return
    placeholder = rows.around.method in LANGUAGE and entropy == 0 and (rows.level("policy/grad_norm") != 0)
    if placeholder:
        yield Proof(f"{rows.called('entropy/mean')} is exactly 0 beside a live update: it is a placeholder and not computed.", fault=False, about=("entropy/mean",))
        return
    says = f"{rows.called('entropy/mean')} is {number(entropy)}: the policy always does the same and cannot find anything better any more."
    explained = rows.level("value/explained_variance")
    critic = explained is not None and abs(explained) < 1e-3
    dead = " The critic explains nothing (explained variance 0), so advantages carry no information either." if critic else ""
    gone = Cause(
        Link.EXPLORATION, "entropy collapse: the policy became deterministic before it was good",
        "entropy is next to 0 and updates change nothing", "Restart with an entropy bonus of 0.01 and look when entropy starts to fall.",
    )  # fmt: skip
    weak = Cause(Link.TRAINING_SIGNAL, "a dead critic: its loss hardly counts (vf_coef) or returns are far from 1", "explained variance is 0", "Set vf_coef to 0.5 and fit the critic alone on fixed rollouts.")
    yield Proof(says + dead, causes=(gone, weak) if critic else (gone,), about=("entropy/mean", "value/explained_variance"))


def step_too_large(rows: Rows) -> Iterator[Proof]:
    """A KL that no sound update shows."""
    old = rows.values("kl/old")
    old = old[np.isfinite(old)]
    if old.size and float(old.max()) > 0.5:
        says = f"{rows.called('kl/old')} reaches {number(float(old.max()))} within one batch, where 0.01 to 0.05 is usual: the step is far too large."
        steps = Cause(Link.POLICY_UPDATE, "steps too large: learning rate, too many passes over a batch, or no clip", "KL of one update is tens of times what is usual", "Try a tenth of the learning rate for ten updates: KL should fall below 0.05.")
        yield Proof(says, causes=(steps,), about=("kl/old",), ask=(CONFIG,))
    ref = rows.level("kl/ref")
    summed = rows.called("kl/ref").startswith("objective/")
    if ref is not None and ref > (200 if summed else 20):
        says = f"{rows.called('kl/ref')} is {number(ref)}: the policy has left the language of the reference; rewards earned there mean little."
        drift = Cause(Link.POLICY_UPDATE, "drift: KL exploded under too large a learning rate or without a penalty", f"KL of {number(ref)} where below 1 is usual", "Restart from a checkpoint with KL below 1, at a tenth of the learning rate.")
        yield Proof(says, causes=(drift,), about=("kl/ref",), ask=(CONFIG,))
    if ref is not None and ref < (-0.5 if summed else -0.05):
        says = f"{rows.called('kl/ref')} is {number(ref)}, below zero: a KL cannot be, so samples do not come from the distribution whose log-probabilities are taken."
        cut = Cause(Link.DATA_FRESHNESS, "generation settings (top_k, top_p, min_length, a masked end token) that the log-probabilities do not follow", "a negative KL that stays", "Sample with top_k off, top_p 1 and no least length: KL should be 0 at the first step.")
        yield Proof(says, causes=(cut,), about=("kl/ref",), ask=(CONFIG,))


def dead_part(rows: Rows) -> Iterator[Proof]:
    """A part of the reward that never pays beside another that does; a fault only where rows or data enough have passed."""
    parts = {n: c.value[np.isfinite(c.value)] for n, c in rows.family("reward/component/").items()}
    parts = {n: v for n, v in parts.items() if v.size and not SUBTRACTED.search(n)}
    if len(parts) < 2 or rows.around.method not in LANGUAGE:
        return
    enough = rows.count >= 10 or (rows.last("progress/epoch") or 0) > 0.3
    living = [n for n, v in parts.items() if np.abs(v).max() > 1e-9]
    for name in (n for n, v in parts.items() if living and np.abs(v).max() <= 1e-9):
        says = f"{rows.called(name)} is 0 in every row while other parts of the reward are paid"
        says += ": this component never pays." if enough else ". That is early to tell; look at it again after fifty steps."
        never = Cause(
            Link.REWARD_SIGNAL, "a reward component that cannot be earned: a format regex that nobody asked the model for, or that the template makes impossible",
            f"{rows.called(name)} never left 0", "Run that reward function by hand on one answer that should score.",
        )  # fmt: skip
        yield Proof(says, fault=enough, causes=(never,) if enough else (), about=(name,), ask=(REWARDS,))


def unscaled(rows: Rows) -> Iterator[Proof]:
    """A critic's loss out of all proportion."""
    loss, reward = rows.level("value/loss"), rows.level("reward/mean")
    if loss is None or rows.around.method in LANGUAGE:
        return
    alpha = rows.level("entropy/coef_loss")
    if loss > 1e4 * max(1.0, (reward or 0) ** 2) or (loss > 1e4 and alpha is not None and abs(alpha) > 10):
        beside = f", and {rows.called('entropy/coef_loss')} is {number(alpha)}: the temperature is driven up" if alpha is not None else ""
        says = f"{rows.called('value/loss')} is {number(loss)}: the critic chases targets far from 1{beside}."
        scale = Cause(Link.REWARD_SIGNAL, "rewards of a large scale (unscaled returns) that drown the entropy term and the critic", "critic loss out of proportion", "Look at the range of one episode's return, and scale rewards so that it is of order 1 to 10.")
        yield Proof(says, causes=(scale,), about=("value/loss", "entropy/coef"), ask=(("What is the range of one episode's return?", "whether scaling is all that is needed"),))


def no_reward(rows: Rows) -> Iterator[Proof]:
    """Losses, and nothing that says how episodes went."""
    losses = [n for n in ("value/loss", "policy/loss", "value/explained_variance") if n in rows.run.curves]
    score = [c for n, c in rows.run.curves.items() if n.startswith(("reward/mean", "reward/used", "eval/score/")) and np.isfinite(c.value).any()]
    if len(losses) >= 2 and not score and rows.around.method not in LANGUAGE:
        says = "No episode reward is logged beside the losses, so these lines cannot say whether it learns; the losses do not tell."
        wrap = Cause(Link.EVALUATION, "the environment is not wrapped in Monitor, so episodes are not counted", "losses without ep_rew_mean", "Wrap each environment in Monitor and log twenty episodes.")
        yield Proof(says, causes=(wrap,), ask=(("Is each environment wrapped in Monitor, and does it reset at random?", "whether a reward can be logged at all"),))


def loss_is_no_progress(rows: Rows) -> Iterator[Proof]:
    """A loss near zero, negative or growing that is as it should be."""
    loss, grad = rows.values("policy/loss"), rows.level("policy/grad_norm")
    if loss.size and not np.isfinite(loss[-1]):
        return
    loss = loss[np.isfinite(loss)]
    if rows.around.method not in (*LANGUAGE, None) or not loss.size or (grad is not None and grad == 0) or float(np.abs(loss).max()) > 1:
        return
    kl = rows.values("kl/ref")
    beta = _share(rows.values("policy/loss"), kl)
    equal = f" Here it is about {number(beta)} times KL, row by row." if beta is not None else ""
    says = (
        f"{rows.called('policy/loss')} is near 0 by construction in GRPO: advantages sum to 0 in each group and the ratio is 1 on fresh samples,"
        f" while the gradient is not 0. What is left is beta times KL, so it starts at 0 and rises with KL.{equal} It is normal, and no sign of progress."
    )
    yield Proof(says, fault=False, about=("policy/loss",))


def clipping_nothing(rows: Rows) -> Iterator[Proof]:
    """A clip fraction of zero."""
    if rows.around.method in (*LANGUAGE, None) and rows.always("ratio/clip_fraction", 0.0) and math.isfinite(rows.last("policy/grad_norm") or 1) and rows.level("policy/grad_norm") != 0:
        says = f"{rows.called('ratio/clip_fraction')} is 0: with one update a batch (num_iterations 1) the ratio is exactly 1 and there is nothing to clip. That is normal."
        yield Proof(says, fault=False, about=("ratio/clip_fraction", "ratio/clip_low", "ratio/clip_high"))


def warming_up(rows: Rows) -> Iterator[Proof]:
    """A learning rate that is still climbing from nothing."""
    rate = rows.level("policy/learning_rate")
    early = rows.phase == "start" or (rows.last("progress/epoch") or 1) < 0.01
    if rate is not None and rate < 2e-7 and early and rows.around.method in LANGUAGE:
        says = f"{rows.called('policy/learning_rate')} is {number(rate)}: still warming up, so nothing can have moved yet."
        yield Proof(says, fault=False, about=("policy/learning_rate",))


def _share(loss: np.ndarray[tuple[int], np.dtype[np.float64]], kl: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    """The one factor that makes the loss out of KL; None where there is none."""
    if loss.size != kl.size or loss.size < 2:
        return None
    keep = np.isfinite(loss) & np.isfinite(kl) & (kl > 1e-3)
    if keep.sum() < 2:
        return None
    factors = loss[keep] / kl[keep]
    middle = float(np.median(factors))
    return middle if middle > 1e-3 and float(np.abs(factors / middle - 1).max()) < 0.15 else None


LOOKS: tuple[Callable[[Rows], Iterator[Proof]], ...] = (
    not_finite, no_signal, step_too_large, deterministic, unscaled, dead_part, cut_answers, no_reward,
    kl_not_computed, loss_is_no_progress, clipping_nothing, warming_up,
)  # fmt: skip
"""What is looked for, the gravest first."""
