"""What lines already prove, be there one of them or a thousand: relations between values that need no statistics.

Each function looks for one thing and gives a Proof or nothing. A proof may be that all is as it should be.
"""

import math
import re
from collections.abc import Callable, Iterator

import numpy as np

from rl_advisor.features.fit import SAME_EVERYWHERE
from rl_advisor.finding import number
from rl_advisor.judgement.proofs.courses import TOLD, crowded_out, fell, leaps, parted
from rl_advisor.judgement.proofs.finite import LANGUAGE, VERSIONS, not_finite, nothing_to_average
from rl_advisor.judgement.proofs.finite import SCRIPT as CONFIG
from rl_advisor.judgement.proofs.proof import REWARDS, Cause, Proof, causes
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.run import Floats

__all__ = ["CONFIG", "TOLD", "Cause", "Proof", "causes", "proofs"]

SUBTRACTED = re.compile(r"(?i)penal|cost|repeti|overlong")
"""Parts of a reward that are subtracted: 0 is their best."""
MANY = 0.3
"""Share of cut answers from which no statistics are needed."""
FAR = 1e3  # a loss of the critic from which returns are far from 1
NEAR_RANDOM = 3.5
"""Entropy in nats a token from which text has lost its sense: the upper end of what sound runs show (priors)."""
EPISODES = ("ppo", "a2c", "on_policy", "dqn", "actor_critic_replay")
"""Methods that play episodes while they learn."""


def proofs(rows: Rows) -> list[Proof]:
    """Everything that the lines prove, faults first."""
    found = [proof for look in LOOKS for proof in look(rows)]
    return sorted(found, key=lambda p: not p.fault)


def kl_not_computed(rows: Rows) -> Iterator[Proof]:
    """A KL that is NaN beside a live update."""
    kl = rows.values("kl/ref")
    alive = [v for n in ("policy/grad_norm", "policy/loss", "reward/mean") if (v := rows.last(n)) is not None]
    if kl.size and np.isnan(kl).all() and alive and all(math.isfinite(v) for v in alive):
        says = f"{rows.called('kl/ref')} is NaN on every row while loss and reward are finite: with beta 0 no reference model is loaded"
        yield Proof(f"{says} and KL is not computed. That is no fault.", fault=False, about=("kl/ref",))


def no_signal(rows: Rows) -> Iterator[Proof]:
    """Groups without spread, with or without a gradient."""
    flat, spread = rows.level("reward/flat_groups"), rows.level("reward/std") or 0.0
    dead = rows.always("policy/grad_norm", 0.0)
    by_now = flat is not None and flat >= 0.98
    groups = rows.values("reward/flat_groups")
    all_flat = by_now and float(np.nanmedian(groups)) >= 0.98
    if rows.around.method not in (*LANGUAGE, None):
        return
    if by_now and _solved(rows):
        says = f"All answers to a prompt get the same reward, and {rows.called('reward/mean')} is near 1: these prompts are solved."
        yield Proof(says, fault=False, about=("reward/flat_groups", "policy/grad_norm"))
    elif by_now and not all_flat:
        says = "By now all answers to a prompt get the same reward in every group: from here on nothing more is learned from these prompts."
        yield Proof(says, fault=False, about=("reward/flat_groups",))
    elif all_flat or (dead and spread == 0):
        says = "All answers to a prompt get the same reward (zero variance in every group), so every advantage is 0 and nothing is learned."
        if dead:
            says += f" {rows.called('policy/grad_norm')} and loss are 0 because of it."
        if spread or any(rows.level(n) for n in rows.family("reward/component_std/")):
            says += " A spread over the whole batch does not help: advantages are taken inside each group."
        if parts := _never_paid(rows):
            says += f" What is paid is not {' or '.join(map(rows.called, parts))}, which is 0: the task itself earns nothing."
        yield Proof(says, causes=("flat_groups",), about=("reward/flat_groups", "policy/grad_norm", "policy/loss"), ask=(REWARDS,))
    elif dead and spread > 0:
        says = f"{rows.called('policy/grad_norm')} is exactly 0 although rewards differ ({rows.called('reward/std')} {number(spread)}):"
        about = ("policy/grad_norm", "policy/loss")
        yield Proof(f"{says} no update reaches the parameters.", causes=("frozen",), about=about, ask=(CONFIG, VERSIONS))


def no_advantage(rows: Rows) -> Iterator[Proof]:
    """Advantages that are 0 from the least to the largest: nothing is told from anything."""
    spread = [n for n in ("advantage/min", "advantage/max", "advantage/std") if rows.values(n).size]
    if len(spread) < 2 or not all(rows.always(n, 0.0) for n in spread):
        return
    level = rows.level("reward/mean")
    says = f"{' and '.join(map(rows.called, spread[:2]))} are 0: every answer of a group got the same reward, so this update learns nothing"
    says += f" although {rows.called('reward/mean')} is {number(level)}" if level is not None else ""
    more = (
        f" {rows.called('policy/grad_norm')} is not 0 because of the KL and entropy terms alone." if rows.last("policy/grad_norm") else ""
    )
    yield Proof(f"{says}.{more}", causes=("flat_groups",), about=(*spread, "policy/loss"), ask=(REWARDS,))


def _solved(rows: Rows) -> bool:
    """Whether the reward stands at the top of a scale from 0 to 1, and no part of it is never paid."""
    reward = rows.level("reward/mean")
    return reward is not None and 0.95 <= reward <= 1 and not _never_paid(rows)


def _never_paid(rows: Rows) -> list[str]:
    """The parts of the reward that are 0 in every row, beside others that are paid."""
    parts = {n: c.value[np.isfinite(c.value)] for n, c in rows.family("reward/component/").items()}
    parts = {n: v for n, v in parts.items() if v.size and not SUBTRACTED.search(n)}
    dead = [n for n, v in parts.items() if np.abs(v).max() <= 1e-9]
    return dead if len(dead) < len(parts) else []


def cut_answers(rows: Rows) -> Iterator[Proof]:
    """Answers that end at the limit."""
    share, lengths = _cut(rows), [rows.level(f"response/length{x}") for x in ("", "_min", "_max")]
    alike = lengths[0] is not None and len(set(lengths)) == 1 and share != 0
    if (share is None or share < MANY) and not alike:
        return
    percent = f"{100 * share:.0f} % of the answers are" if share is not None and share < 1 else "Every answer is"
    where = f" ({number(lengths[2])} tokens)" if lengths[2] else ""
    says = f"{percent} cut at the length limit{where}: a cut answer is graded as a failure whatever it would have said."
    rambles = " No answer ends by itself, which is what broken weights do, too." if alike else ""
    yield Proof(says + rambles, causes=("truncation",), about=("response/truncated", "response/length"))


def _cut(rows: Rows) -> float | None:
    """The share of cut answers; against the longest of the batch only where that is far more than the longest itself."""
    share = rows.level("response/truncated")
    padded = rows.level("response/padded_max")
    return share if share is not None else padded if padded is not None and padded > MANY else None


def incoherent(rows: Rows) -> Iterator[Proof]:
    """Answers near random text that run into the limit: the policy is broken, and the cut answers are what comes of it."""
    entropy, share = rows.level("entropy/mean"), _cut(rows)
    if entropy is None or share is None or entropy < NEAR_RANDOM or share < 0.5 or rows.around.method not in LANGUAGE:
        return
    says = f"{rows.called('entropy/mean')} is {number(entropy)}, close to random text, and {100 * share:.0f} % of the answers run into the"
    about = ("entropy/mean", "response/truncated", "response/length")
    yield Proof(f"{says} length limit without an end: the policy is broken.", causes=("broken_policy",), about=about, ask=(CONFIG,))


def deterministic(rows: Rows) -> Iterator[Proof]:
    """A policy without entropy."""
    entropy = rows.level("entropy/mean")
    if entropy is None or not 0 <= entropy < 1e-3 or rows.around.action == "continuous" or _solved(rows):
        return
    if rows.around.method in LANGUAGE and entropy == 0 and rows.level("policy/grad_norm") != 0:
        says = f"{rows.called('entropy/mean')} is exactly 0 beside a live update: it is a placeholder and not computed."
        yield Proof(says, fault=False, about=("entropy/mean",))
        return
    says = f"{rows.called('entropy/mean')} is {number(entropy)}: the policy always does the same and cannot find anything better any more."
    explained = rows.level("value/explained_variance")
    blind = explained is not None and abs(explained) < 1e-3
    says += " The critic explains nothing (explained variance 0), so advantages carry no information either." if blind else ""
    found = ("no_entropy", "dead_critic") if blind else ("no_entropy",)
    yield Proof(says, causes=found, about=("entropy/mean", "value/explained_variance"))


def step_too_large(rows: Rows) -> Iterator[Proof]:
    """A KL that no sound update, and no sound run, shows."""
    old = rows.values("kl/old")
    old = old[np.isfinite(old)]
    if old.size and float(old.max()) > 0.5:
        says = f"{rows.called('kl/old')} reaches {number(float(old.max()))} within one batch, where 0.01 to 0.05 is usual:"
        yield Proof(f"{says} the step is far too large.", causes=("large_steps",), about=("kl/old",), ask=(CONFIG,))
    ref, name = rows.level("kl/ref"), rows.called("kl/ref")
    summed = name.startswith("objective/")
    if ref is not None and ref > (200 if summed else 20):
        says = f"{name} is {number(ref)}: the policy has left the language of the reference, and rewards earned there mean little."
        yield Proof(says, causes=("drift",), about=("kl/ref",), ask=(CONFIG,))
    if ref is not None and ref < (-0.5 if summed else -0.05):
        says = (
            f"{name} is {number(ref)}, which a KL cannot be: samples do not come from the distribution whose log-probabilities are taken."
        )
        yield Proof(says, causes=("cut_sampling",), about=("kl/ref",), ask=(CONFIG,))


def blind_critic(rows: Rows) -> Iterator[Proof]:
    """An explained variance of nothing to the last digit: what a critic that says the same everywhere leaves."""
    explained, loss = rows.level("value/explained_variance"), rows.level("value/loss")
    if explained is None or abs(explained) > SAME_EVERYWHERE or loss is None or loss <= 1 or (rows.level("entropy/mean") or 1.0) < 1e-3:
        return
    says = f"{rows.called('value/explained_variance')} is 0 to the last digit beside a {rows.called('value/loss')} of {number(loss)}:"
    says += " the critic predicts the same for every state."
    likely = ("reward_scale", "dead_critic") if loss > FAR else ("dead_critic",)
    yield Proof(says, causes=likely, about=("value/explained_variance",), ask=(CONFIG,))


def dead_part(rows: Rows) -> Iterator[Proof]:
    """A part of the reward that never pays beside another that does; a fault only where rows or data enough have passed."""
    dead = _never_paid(rows) if rows.around.method in LANGUAGE else []
    enough = rows.count >= 10 or (rows.last("progress/epoch") or 0) > 0.3
    for name in dead:
        says = f"{rows.called(name)} is 0 in every row while other parts of the reward are paid"
        says += ": this component never pays." if enough else ". That is early to tell; look at it again after fifty steps."
        yield Proof(says, fault=enough, causes=("dead_component",) if enough else (), about=(name,), ask=(REWARDS,))


def unscaled(rows: Rows) -> Iterator[Proof]:
    """A critic's loss out of all proportion."""
    loss, reward, alpha = rows.level("value/loss"), rows.level("reward/mean"), rows.level("entropy/coef_loss")
    if loss is None or rows.around.method in LANGUAGE:
        return
    if loss > 1e4 * max(1.0, (reward or 0) ** 2) or (loss > 1e4 and alpha is not None and abs(alpha) > 10):
        beside = f", and {rows.called('entropy/coef_loss')} is {number(alpha)}: the temperature is driven up" if alpha is not None else ""
        says = f"{rows.called('value/loss')} is {number(loss)}: the critic chases targets far from 1{beside}."
        ask = ("What is the range of one episode's return?", "whether scaling is all that is needed")
        yield Proof(says, causes=("reward_scale",), about=("value/loss", "entropy/coef"), ask=(ask,))


def no_reward(rows: Rows) -> Iterator[Proof]:
    """Losses, and nothing that says how episodes went."""
    losses = [n for n in ("value/loss", "policy/loss", "value/explained_variance") if n in rows.run.curves]
    outcomes = [c for n, c in rows.run.curves.items() if n.startswith(("reward/mean", "reward/used", "eval/score/"))]
    if len(losses) >= 2 and not any(np.isfinite(c.value).any() for c in outcomes) and rows.around.method in EPISODES:
        says = "No episode reward is logged beside the losses, so these lines cannot say whether it learns; the losses do not tell."
        ask = ("Is each environment wrapped in Monitor, and does it reset at random?", "whether a reward can be logged at all")
        yield Proof(says, causes=("no_monitor",), ask=(ask,))


def loss_is_no_progress(rows: Rows) -> Iterator[Proof]:
    """A loss near zero, negative or growing that is as it should be."""
    loss, grad = rows.values("policy/loss"), rows.last("policy/grad_norm")
    sound = loss.size and np.isfinite(loss).all() and float(np.abs(loss).max()) <= 1 and grad != 0
    grouped = rows.around.method == "grpo" or "reward/std" in rows.run.curves or "reward/flat_groups" in rows.run.curves
    if not sound or not grouped or rows.around.method not in (*LANGUAGE, None) or "value/loss" in rows.run.curves:
        return
    factor = _share(loss, rows.values("kl/ref"))
    says = (
        f"{rows.called('policy/loss')} is near 0 by construction in GRPO (advantages sum to 0 in each group, the gradient does not)"
        " and what is left of it is beta times KL"
    )
    says += f" (here it is about {number(factor)} times KL, row by row)." if factor is not None else "."
    yield Proof(f"{says} That is normal, and no sign of progress.", fault=False, about=("policy/loss",))


def clipping_nothing(rows: Rows) -> Iterator[Proof]:
    """A clip fraction of zero."""
    grad = rows.last("policy/grad_norm")
    alive = grad is None or (math.isfinite(grad) and grad != 0)
    if rows.around.method in (*LANGUAGE, None) and rows.always("ratio/clip_fraction", 0.0) and alive:
        says = f"{rows.called('ratio/clip_fraction')} is 0: with one update a batch (num_iterations 1) the ratio is exactly 1"
        about = ("ratio/clip_fraction", "ratio/clip_low", "ratio/clip_high")
        yield Proof(f"{says} and there is nothing to clip. That is normal.", fault=False, about=about)


def warming_up(rows: Rows) -> Iterator[Proof]:
    """A learning rate that is still climbing from nothing."""
    rate = rows.level("policy/learning_rate")
    epoch = rows.last("progress/epoch")
    early = rows.phase == "start" or (epoch is not None and epoch < 0.01)
    if rate is not None and rate < 2e-7 and early and rows.around.method in LANGUAGE:
        says = f"{rows.called('policy/learning_rate')} is {number(rate)}: still warming up, so nothing can have moved yet."
        yield Proof(says, fault=False, about=("policy/learning_rate",))


def _share(loss: Floats, kl: Floats) -> float | None:
    """The one factor that makes the loss out of KL; None where there is none."""
    if loss.size != kl.size:
        return None
    keep = np.isfinite(loss) & np.isfinite(kl) & (kl > 1e-3)
    if keep.sum() < 2:
        return None
    factors = loss[keep] / kl[keep]
    middle = float(np.median(factors))
    return middle if middle > 1e-3 and float(np.abs(factors / middle - 1).max()) < 0.15 else None


LOOKS: tuple[Callable[[Rows], Iterator[Proof]], ...] = (
    not_finite,
    nothing_to_average,
    parted,
    crowded_out,
    fell,
    leaps,
    incoherent,
    no_signal,
    no_advantage,
    step_too_large,
    deterministic,
    blind_critic,
    unscaled,
    dead_part,
    cut_answers,
    no_reward,
    kl_not_computed,
    loss_is_no_progress,
    clipping_nothing,
    warming_up,
)
"""What is looked for, the gravest first."""
