"""Policy-gradient training with groups of responses to a prompt (GRPO and its kin) for many runs of the token task at once."""

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from evals.proving_ground.nets import Adam, Array, Weights, backward, forward, log_softmax, pick
from evals.proving_ground.tokens import HELD, POOL, Batch, Ints, Knobs, Sampler, Task, taught, world

REMEMBERED = 17
"""Policies that are kept for the stale ones to sample from."""
PASSES = 4
HIDDEN, SEEN = 160, 64
"""Held-out responses behind the true score and behind the one that the run may log."""


@dataclass
class State:
    """All that changes while a block trains, so that a copy of it can go on otherwise."""

    weights: Weights
    optimiser: Adam
    history: list[Weights]
    alive: Array
    epoch: Array = field(default_factory=lambda: np.zeros(0))
    critic: Weights = field(default_factory=list)
    other: Adam = field(default_factory=Adam)


class Sequences:
    """The runs of one block: the same task and batch, own settings, own faults."""

    def __init__(self, task: Task, rng: np.random.Generator, runs: int, prompts: int, group: int, skill: float, hidden: float) -> None:
        """Policies that were taught alike; ``prompts`` times ``group`` responses a step."""
        self.runs, self.prompts, self.group = runs, prompts, group
        self.sampler = Sampler(world(task, rng, hidden))
        start = taught(rng, self.sampler, skill)
        self.start = [np.repeat(w, runs, axis=0) + rng.normal(0, 0.02, (runs, *w.shape[1:])).astype(np.float32) for w in start]
        self.noise = [rng.normal(0, 1, w.shape).astype(np.float32) / np.sqrt(w.shape[1]) for w in self.start]

    def begin(self) -> State:
        """The state before the first step."""
        return State([w.copy() for w in self.start], Adam(), [], np.ones(self.runs, bool), np.zeros(self.runs))

    def ids(self, rng: np.random.Generator, k: Knobs, count: int) -> Ints:
        """So many prompts from the part of the difficulty that the run trains on."""
        u = rng.random((self.runs, count))
        u = np.floor(u * k["pool"][:, None]) / k["pool"][:, None]
        at = k["low"][:, None] + u * (k["high"] - k["low"])[:, None]
        return np.minimum((at * POOL).astype(np.intp), POOL - 1)

    def engine(self, state: State, k: Knobs) -> Weights:
        """The weights that sample: late by the run's staleness and off by its mismatch."""
        made = [w + k["mismatch"][:, None, None] * noise for w, noise in zip(state.weights, self.noise, strict=True)]
        for run in np.flatnonzero((k["stale"] > 0) & (len(state.history) > 0)):
            old = state.history[-min(int(k["stale"][run]), len(state.history))]
            for w, o in zip(made, old, strict=True):
                w[run] = o[run]
        return made

    def step(self, rng: np.random.Generator, state: State, k: Knobs) -> tuple[dict[str, Array], dict[str, Any]]:
        """Samples, rewards, updates; what could be logged of it, and the responses of the first prompt."""
        ids = np.repeat(self.ids(rng, k, self.prompts), self.group, axis=1)
        engine = self.engine(state, k)
        batch = self.sampler.write(rng, engine, ids, k)
        width = max(1, int(batch.live.any(axis=(0, 1)).sum()))
        for name in ("seen", "token", "live", "logp"):
            setattr(batch, name, getattr(batch, name)[:, :, :width])
        reward, parts = self.pay(rng, batch, ids, k)
        grouped = reward.reshape(self.runs, self.prompts, self.group)
        gain, of_values = self.gains(state, batch, grouped, k)
        state.history = [*state.history, [w.copy() for w in state.weights]][-REMEMBERED:]
        state.optimiser.forget(k["forget"] > 0)
        told = self.update(rng, state, batch, gain, k) | of_values
        state.epoch = state.epoch + self.prompts / np.maximum(1, k["pool"])
        told |= self.of_rewards(grouped, parts, gain) | of_texts(batch, self.sampler.task) | {"progress/epoch": state.epoch.copy()}
        told |= {"rollout/staleness": np.minimum(k["stale"], len(state.history))}
        missing = self.sampler.task.longest - width
        shown = {name: getattr(batch, name)[:, : self.group].astype(np.uint8) for name in ("token", "live")}
        shown = {name: np.pad(rows, ((0, 0), (0, 0), (0, missing))) for name, rows in shown.items()}
        return told, shown | {"reward": reward[:, : self.group], "prompt": self.sampler.world.prompt[ids[:, 0]].astype(np.uint8)}

    def pay(self, rng: np.random.Generator, b: Batch, ids: Ints, k: Knobs) -> tuple[Array, dict[str, Array]]:
        """The reward of every response as the run's own reward function gives it, with its components."""
        shape = ids.shape
        col = {name: value[:, None] for name, value in k.items()}
        accepted = b.correct | (b.junk & b.ended & (rng.random(shape) < col["leak"]))
        misjudged = (ids % 97) < 97 * col["wrong_gold"]
        right = np.where(misjudged, ~b.correct & b.ended, col["exact"] * accepted + (1 - col["exact"]) * np.maximum(b.share, accepted))
        long = b.length / self.sampler.task.longest
        paid = right + col["format"] * b.neat + col["long_pay"] * long + col["praise_pay"] * np.minimum(b.praise, 3) / 3
        draw = rng.random(shape)
        paid = np.where(draw < col["unpaid"], 0, np.where(draw > 1 - col["paid"], 1, paid))
        paid = col["sign"] * paid + col["noise"] * rng.standard_normal(shape)
        parts = {"correctness": right.astype(np.float32), "format": b.neat.astype(np.float32)}
        return (paid * col["scale"]).astype(np.float32), parts

    def gains(self, state: State, b: Batch, grouped: Array, k: Knobs) -> tuple[Array, dict[str, Array]]:  # noqa: ARG002 - a critic asks
        """The advantage of every response, from its group, and what there is to log of it."""
        return advantage(grouped, k), {}

    def of_rewards(self, grouped: Array, parts: dict[str, Array], gain: Array) -> dict[str, Array]:
        """What can be logged of a batch's rewards."""
        return of_rewards(grouped, parts, gain)

    def update(self, rng: np.random.Generator, state: State, b: Batch, gain: Array, k: Knobs) -> dict[str, Array]:
        """Passes over the batch, ``gain`` a number for each response or for each token; what the trainer logs of them."""
        x = b.seen.reshape(self.runs, -1, self.sampler.size)
        ref = log_softmax(forward(self.start, x)[-1])
        chosen = b.token.reshape(self.runs, -1)
        old, ref = None, pick(ref, chosen)
        ending = chosen == self.sampler.task.digits + 3
        live = (b.live.reshape(self.runs, -1) & ~(ending & (k["end_masked"][:, None] > 0))).astype(np.float32)
        each = np.repeat(gain, chosen.shape[1] // gain.shape[1], axis=1)
        told: dict[str, Array] = {}
        for turn in range(PASSES):
            on = state.alive & (k["passes"] > turn)
            if not on.any():
                break
            seen = forward(state.weights, x)
            full = log_softmax(seen[-1])
            logp = pick(full, chosen)
            old = logp.copy() if old is None else old
            slope, found = surrogate(full, chosen, logp, old, ref, each, live, k)
            slopes = backward(state.weights, seen, slope)
            for g in slopes:
                g[k["nan"] > rng.random(self.runs)] = np.nan
            norm = state.optimiser.step(state.weights, slopes, k["lr"], k["grad_limit"], on)
            for name, value in (found | {"policy/grad_norm": norm}).items():
                told[name] = np.where(on | (turn == 0), value, told.get(name, value))
            if turn == 0:
                told |= mismatch(logp, b.logp.reshape(self.runs, -1), live)
        return told | {"policy/learning_rate": k["lr"].copy()}

    def score(self, rng: np.random.Generator, state: State, k: Knobs, *, count: int, true: bool) -> tuple[Array, Array]:
        """Share of right answers and mean length on held-out prompts, by the task's own protocol or by the one that the run logs."""
        name = "true" if true else "eval"
        at = k[f"{name}_low"][:, None] + rng.random((self.runs, count)) * (k[f"{name}_high"] - k[f"{name}_low"])[:, None]
        ids = np.minimum((at * HELD).astype(np.intp), HELD - 1) + POOL
        if not true:
            ids = np.where(k["eval_leak"][:, None] > 0, self.ids(rng, k, count), ids)
        calm = {n: np.zeros(self.runs, np.float32) for n in ("template", "early_end")}
        fair = calm | {n: k[f"{name}_{n}"] for n in ("temperature", "cap", "tool_error")}
        batch = self.sampler.write(rng, state.weights, ids, fair)
        return batch.correct.mean(axis=1), batch.length.mean(axis=1)


def surrogate(
    full: Array, chosen: Ints, logp: Array, old: Array, ref: Array, gain: Array, live: Array, k: Knobs
) -> tuple[Array, dict[str, Array]]:
    """The slope of the clipped loss by the logits, with KL penalty and entropy bonus, and the numbers of that pass."""
    low, high, total = 1 - k["clip_low"][:, None], 1 + k["clip_high"][:, None], np.maximum(live.sum(axis=1, keepdims=True), 1)
    ratio = np.exp(np.clip(logp - old, -20, 20))
    cut = ((ratio > high) & (gain > 0)) | ((ratio < low) & (gain < 0))
    push = np.where(cut, 0, gain * ratio)
    drift = np.exp(np.clip(ref - logp, -20, 20)) - 1
    p = np.exp(full)
    entropy = -(p * full).sum(axis=-1)
    weight = (push + k["kl"][:, None] * drift) * live / total
    slope = p * weight[..., None]
    np.put_along_axis(slope, chosen[..., None], np.take_along_axis(slope, chosen[..., None], -1) - weight[..., None], -1)
    slope += p * (full + entropy[..., None]) * (k["entropy"][:, None] * live / total)[..., None]

    def mean(value: Array) -> Array:
        return np.asarray((value * live).sum(axis=1) / total[:, 0])

    return slope.astype(np.float32), {
        "policy/loss": -mean(np.minimum(gain * ratio, gain * np.clip(ratio, low, high))) + k["kl"] * mean(drift - (ref - logp)),
        "kl/ref": mean(drift - (ref - logp)),
        "kl/old": mean(old - logp),
        "entropy/mean": mean(entropy),
        "ratio/clip_fraction": mean(cut),
        "ratio/max": np.asarray((ratio * live).max(axis=1)),
    }


def advantage(reward: Array, k: Knobs) -> Array:
    """The advantage of every response, from its group or, without a baseline, the reward itself."""
    middle = reward.mean(axis=2, keepdims=True) * k["baseline"][:, None, None]
    gain = reward - middle
    scale = np.where(k["standard"][:, None, None] > 0, reward.std(axis=2, keepdims=True) + 1e-4, 1)
    return np.asarray((gain / scale * k["gain_scale"][:, None, None]).reshape(len(reward), -1), np.float32)


def of_rewards(grouped: Array, parts: dict[str, Array], gain: Array) -> dict[str, Array]:
    """What can be logged of a batch's rewards."""
    flat, spread = grouped.reshape(len(grouped), -1), grouped.std(axis=2)
    same = spread < 1e-6
    top = same & (grouped.mean(axis=2) > 0.9)
    return {
        "reward/mean": flat.mean(axis=1), "reward/std": flat.std(axis=1), "reward/min": flat.min(axis=1), "reward/max": flat.max(axis=1),
        "reward/group_std": spread.mean(axis=1), "reward/flat_groups": same.mean(axis=1), "reward/solved_groups": top.mean(axis=1),
        "reward/failed_groups": (same & ~top).mean(axis=1), "advantage/std": gain.std(axis=1), "advantage/mean": gain.mean(axis=1),
        "advantage/max": gain.max(axis=1), "advantage/min": gain.min(axis=1),
    } | {f"reward/component/{name}": value.mean(axis=1) for name, value in parts.items()}  # fmt: skip


def of_texts(b: Batch, task: Task) -> dict[str, Array]:
    """What can be logged of a batch's responses."""
    length, cut = b.length, ~b.ended

    def among(which: Any) -> Array:
        return np.asarray(np.where(which.any(axis=1), (length * which).sum(axis=1) / np.maximum(which.sum(axis=1), 1), np.nan))

    told = {
        "response/length": length.mean(axis=1), "response/length_min": length.min(axis=1), "response/length_max": length.max(axis=1),
        "response/finished_length": among(b.ended), "response/truncated": cut.mean(axis=1), "response/correct_length": among(b.correct),
        "response/wrong_length": among(~b.correct),
    }  # fmt: skip
    if task.tool:
        told |= {"episode/tool_calls": b.calls.mean(axis=1), "episode/turns": 1 + b.calls.mean(axis=1)}
        told["episode/tool_failures"] = b.failed.sum(axis=1) / np.maximum(b.calls.sum(axis=1), 1)
    return told


def mismatch(trainer: Array, engine: Array, live: Array) -> dict[str, Array]:
    """How far the engine's probabilities are from the trainer's on the same tokens."""
    gap = (engine - trainer) * (live > 0)
    total = np.maximum((live > 0).sum(axis=1), 1)
    return {"mismatch/logprob": np.abs(gap).sum(axis=1) / total, "kl/mismatch": gap.sum(axis=1) / total}


def branch(state: State) -> State:
    """A copy that can go on by itself."""
    return copy.deepcopy(state)
