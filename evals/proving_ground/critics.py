"""Control learners for many runs at once: what all of them share, and an actor with a critic (PPO, A2C)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from evals.proving_ground.control import Arena, Bools, Floats, Game, Ints, play
from evals.proving_ground.nets import Adam, Array, Weights, backward, draw, forward, log_softmax, network, pick
from evals.proving_ground.sequences import Knobs

HIDDEN, SEEN = 24, 10
"""Episodes behind the true score and behind the one that the run may log."""
LAST = 100
"""Episodes that an episode mean looks back on, as the libraries do."""


@dataclass
class State:
    """All that changes while a block trains."""

    weights: Weights
    critic: Weights
    target: Weights
    optimiser: Adam
    other: Adam
    arena: Arena
    alive: Bools
    history: list[Weights] = field(default_factory=list)
    returns: list[list[float]] = field(default_factory=list)
    lengths: list[list[float]] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    """Episodes that ended in this iteration."""
    replay: dict[str, Any] = field(default_factory=dict)
    filled: int = 0
    given: Floats | None = None
    """What the episodes under way were paid so far."""


class Control:
    """What all control learners share: the arena, the pay, the episodes that are counted, the score."""

    def __init__(self, game: Game, rng: np.random.Generator, runs: int, envs: int, length: int, width: int = 32) -> None:
        """``envs`` episodes side by side, ``length`` steps of each an iteration."""
        self.game, self.runs, self.envs, self.length = game, runs, envs, length * game.slow
        self.actor = network(rng, runs, (game.sees, width, width, game.actions), 0.05)
        self.critic = network(rng, runs, (game.sees, width, width, 1), 0.5)
        self.first = rng.integers(1 << 31)

    def begin(self) -> State:
        """The state before the first step."""
        rng = np.random.default_rng(self.first)
        copies = [[w.copy() for w in net] for net in (self.actor, self.critic, self.actor)]
        empty: list[list[float]] = [[] for _ in range(self.runs)]
        arena = Arena(self.game, rng, self.runs, self.envs)
        return State(*copies, Adam(), Adam(), arena, np.ones(self.runs, bool), [], empty, [[] for _ in range(self.runs)], [0] * self.runs)

    def pay(self, rng: np.random.Generator, paid: Array, k: Knobs) -> Array:
        """The reward as the run's own reward gives it."""
        col = {name: k[name][:, None] for name in ("sign", "noise", "unpaid", "paid", "scale")}
        u = rng.random(paid.shape)
        given = np.where(u < col["unpaid"], 0, np.where(u > 1 - col["paid"], 1, paid))
        return ((col["sign"] * given + col["noise"] * rng.standard_normal(paid.shape)) * col["scale"]).astype(np.float32)

    def count(self, state: State, over: Bools, given: Floats) -> None:
        """Notes the episodes that ended: their return as it was paid."""
        for run, env in zip(*np.nonzero(over), strict=True):
            state.fresh[run] += 1
            state.returns[run].append(float(given[run, env]))
            state.lengths[run].append(float(state.arena.age[run, env]))

    def told(self, state: State) -> dict[str, Array]:
        """Episode means as the libraries log them, over the last hundred; and of this iteration alone, all and one, as scripts do."""

        def mean(of: list[list[float]], since: list[int]) -> Array:
            return np.array([np.mean(each[n:]) if each[n:] else np.nan for each, n in zip(of, since, strict=True)])

        for each in (*state.returns, *state.lengths):
            del each[:-LAST]
        fresh = [len(each) - min(n, len(each)) for each, n in zip(state.returns, state.fresh, strict=True)]
        one = [min(len(each) - 1, n) if each and n < len(each) else len(each) for each, n in zip(state.returns, fresh, strict=True)]
        told = {"reward/mean": mean(state.returns, [0] * self.runs), "episode/length": mean(state.lengths, [0] * self.runs)}
        first = [each[: n + 1] for each, n in zip(state.returns, one, strict=True)]
        told |= {"reward/fresh": mean(state.returns, fresh), "reward/one": mean(first, one)}
        state.fresh = [0] * self.runs
        return told

    def score(self, rng: np.random.Generator, state: State, k: Knobs, *, count: int, true: bool) -> tuple[Array, Array]:
        """Mean return and length of whole episodes, by the task's own protocol or by the one that the run logs."""
        name = "true" if true else "eval"
        zero, one = np.zeros(self.runs, np.float32), np.ones(self.runs, np.float32)
        fair = {"seen_scale": k["seen_scale"], "seen_noise": k[f"{name}_noise"], "actions_mixed": zero, "early_end": zero}
        fair |= {"cap": k[f"{name}_cap"] * one}

        def act(seen: Floats) -> Ints:
            return self.choose(rng, state, seen, k["true_greedy" if true else "eval_greedy"])

        total, length = play(self.game, rng, act, fair, count)
        return total.mean(axis=1), length.mean(axis=1)

    def choose(self, rng: np.random.Generator, state: State, seen: Floats, greedy: Array) -> Ints:
        """Actions of the policy: the best ones, or drawn."""
        logits = forward(state.weights, seen)[-1]
        return np.where(greedy[:, None] > 0, np.argmax(logits, axis=-1), draw(rng, log_softmax(logits)))


class ActorCritic(Control):
    """PPO, and A2C where there is one pass and no clip to speak of."""

    def step(self, rng: np.random.Generator, state: State, k: Knobs) -> tuple[dict[str, Array], dict[str, Any]]:
        """One iteration: episodes, advantages, passes."""
        acting = [w.copy() for w in state.weights]
        for run in np.flatnonzero((k["stale"] > 0) & (len(state.history) > 0)):
            for w, o in zip(acting, state.history[-min(int(k["stale"][run]), len(state.history))], strict=True):
                w[run] = o[run]
        state.history = [*state.history, [w.copy() for w in state.weights]][-9:]
        state.optimiser.forget(k["forget"] > 0)
        x, a, given, ended, over, ahead, sums = self.collect(rng, state, acting, k)
        gain, target, value = advantages(state.critic, x, given, ended, over, ahead, k)
        told = self.told(state) | sums
        told |= {"advantage/mean": gain.mean(axis=1), "advantage/std": gain.std(axis=1), "value/mean": value.mean(axis=1)}
        told["value/explained_variance"] = 1 - (target - value).var(axis=1) / (target.var(axis=1) + 1e-8)
        told["value/return_mean"] = target.mean(axis=1)
        flat = x.reshape(self.runs, -1, self.game.sees)
        return told | self.update(rng, state, flat, a.reshape(self.runs, -1), gain, target, k), {}

    def collect(self, rng: np.random.Generator, state: State, acting: Weights, k: Knobs) -> tuple[Any, ...]:
        """Steps of all episodes: (runs, steps, episodes) of what was seen, done and paid, and where an episode ended."""
        rows: list[list[Any]] = [[] for _ in range(6)]
        given = np.zeros((self.runs, self.envs), np.float32) if state.given is None else state.given
        broken = np.zeros(self.runs)
        for _ in range(self.length):
            seen = state.arena.see(rng, k)
            logp = log_softmax(forward(acting, seen)[-1] / k["temperature"][:, None, None])
            action = draw(rng, logp)
            paid, ended, late, broke = state.arena.step(rng, action, k)
            paid = self.pay(rng, paid, k)
            given = given + paid
            over = ended | late | broke
            broken += broke.sum(axis=1)
            self.count(state, over, given)
            after = self.game.see(state.arena.state) * k["seen_scale"][:, None, None]
            true_end = ended | broke | (late & (k["cut_is_end"][:, None] > 0))
            for row, value in zip(rows, (seen, action, paid, true_end, over, after.astype(np.float32)), strict=True):
                row.append(value)
            given = np.where(over, 0, given)
            state.arena.renew(rng, over)
        state.given = given
        x, a, r, e, o, after = (np.stack(row, axis=1) for row in rows)
        return x, a, r, e, o, after, {"episode/errors": broken / np.maximum(o.sum(axis=(1, 2)), 1)}

    def update(self, rng: np.random.Generator, state: State, x: Array, a: Ints, gain: Array, target: Array, k: Knobs) -> dict[str, Array]:
        """Passes over minibatches; the numbers of the last one."""
        old = pick(log_softmax(forward(state.weights, x)[-1]), a)
        parts = 4 if k["passes"].max() > 1 else 1
        rows: dict[str, list[Array]] = {}
        for turn in range(int(k["passes"].max())):
            on = state.alive & (k["passes"] > turn)
            for part in np.array_split(rng.permutation(x.shape[1]), parts):
                g = gain[:, part]
                if (k["standard"] > 0).any():
                    normal = (g - g.mean(axis=1, keepdims=True)) / (g.std(axis=1, keepdims=True) + 1e-8)
                    g = np.where(k["standard"][:, None] > 0, normal, g)
                found = actor_step(rng, state, x[:, part], a[:, part], old[:, part], g * k["gain_scale"][:, None], on, k)
                found["value/loss"] = critic_step(state, x[:, part], target[:, part], on, k)
                for name, value in found.items():
                    rows.setdefault(name, []).append(np.where(on, value, np.nan))
        told = {name: known_mean(np.stack(value)) for name, value in rows.items()}
        return told | {"policy/learning_rate": k["lr"].copy(), "ratio/clip_range": k["clip_high"].copy()}


def known_mean(rows: Array) -> Array:
    """The mean of every column over what is a number in it; not a number where nothing is."""
    known = np.isfinite(rows)
    return np.where(known.any(axis=0), np.where(known, rows, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)


def advantages(critic: Weights, x: Array, r: Array, ended: Bools, over: Bools, after: Array, k: Knobs) -> tuple[Array, Array, Array]:
    """Generalised advantages, the targets of the critic and its values; (runs, steps x episodes)."""
    runs, steps, envs = r.shape
    value = forward(critic, x.reshape(runs, -1, x.shape[-1]))[-1][..., 0].reshape(r.shape)
    ahead = forward(critic, after.reshape(runs, -1, x.shape[-1]))[-1][..., 0].reshape(r.shape) * ~ended
    gamma, lam = k["gamma"][:, None], k["lam"][:, None]
    gain, kept = np.zeros_like(r), np.zeros((runs, envs), np.float32)
    for t in range(steps - 1, -1, -1):
        kept = r[:, t] + gamma * ahead[:, t] - value[:, t] + gamma * lam * kept * ~over[:, t]
        gain[:, t] = kept
    return gain.reshape(runs, -1), (gain + value).reshape(runs, -1), value.reshape(runs, -1)


def actor_step(rng: np.random.Generator, state: State, x: Array, a: Ints, old: Array, gain: Array, on: Bools, k: Knobs) -> dict[str, Array]:
    """One step of the policy on a minibatch, with the clip and the entropy bonus."""
    seen = forward(state.weights, x)
    full = log_softmax(seen[-1])
    logp, p = pick(full, a), np.exp(full)
    entropy = -(p * full).sum(axis=-1)
    ratio = np.exp(np.clip(logp - old, -20, 20))
    cut = ((ratio > 1 + k["clip_high"][:, None]) & (gain > 0)) | ((ratio < 1 - k["clip_low"][:, None]) & (gain < 0))
    weight = np.where(cut, 0, gain * ratio) / x.shape[1]
    slope = p * weight[..., None]
    np.put_along_axis(slope, a[..., None], np.take_along_axis(slope, a[..., None], -1) - weight[..., None], -1)
    slope += p * (full + entropy[..., None]) * (k["entropy"] / x.shape[1])[:, None, None]
    slopes = backward(state.weights, seen, slope.astype(np.float32))
    for g in slopes:
        g[k["nan"] > rng.random(len(on))] = np.nan
    norm = state.optimiser.step(state.weights, slopes, k["lr"], k["grad_limit"], on)
    clipped = np.clip(ratio, 1 - k["clip_low"][:, None], 1 + k["clip_high"][:, None])
    return {
        "policy/loss": -np.minimum(gain * ratio, gain * clipped).mean(axis=1), "entropy/mean": entropy.mean(axis=1),
        "kl/old": (ratio - 1 - (logp - old)).mean(axis=1), "ratio/clip_fraction": cut.mean(axis=1), "policy/grad_norm": norm,
    }  # fmt: skip


def critic_step(state: State, x: Array, target: Array, on: Bools, k: Knobs) -> Array:
    """One step of the critic on a minibatch; its squared error."""
    seen = forward(state.critic, x)
    gap = seen[-1][..., 0] - target
    slope = (np.clip(gap, -1e6, 1e6) / x.shape[1])[..., None].astype(np.float32)
    state.other.step(state.critic, backward(state.critic, seen, slope), k["lr"] * k["critic_rate"], k["grad_limit"] * 10, on)
    return np.asarray((gap**2).mean(axis=1))
