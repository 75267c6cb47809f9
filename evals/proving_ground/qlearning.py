"""Q-learning with a replay buffer and a target network for many runs at once; with a temperature it is soft, as SAC is."""

from typing import Any

import numpy as np
from evals.proving_ground.control import Floats, Ints
from evals.proving_ground.critics import Control, State
from evals.proving_ground.nets import Array, backward, draw, forward, log_softmax, pick
from evals.proving_ground.sequences import Knobs

BUFFER = 8192
BATCH = 48
UPDATES = 8
WARM_UP = 256


class QLearning(Control):
    """DQN where the temperature is zero, soft Q-learning elsewhere; ``weights`` is the Q function."""

    updates = UPDATES

    def step(self, rng: np.random.Generator, state: State, k: Knobs) -> tuple[dict[str, Array], dict[str, Any]]:
        """One iteration: some steps of all episodes, then updates on what is remembered."""
        broken = np.zeros(self.runs)
        for _ in range(self.length):
            broken += self.live(rng, state, k)
        state.optimiser.forget(k["forget"] > 0)
        finished = np.maximum(1, state.fresh)
        told = self.told(state) | {"exploration/rate": k["explore"].copy(), "policy/learning_rate": k["lr"].copy()}
        told["episode/errors"] = np.clip(broken / finished, 0, 1)
        if state.filled * self.envs < WARM_UP:
            return told, {}
        rows: dict[str, list[Array]] = {}
        for _ in range(self.updates):
            for name, value in self.learn(rng, state, k).items():
                rows.setdefault(name, []).append(value)
        return told | {name: np.mean(value, axis=0) for name, value in rows.items()}, {}

    def live(self, rng: np.random.Generator, state: State, k: Knobs) -> Array:
        """One step of every episode into the replay buffer; how many broke."""
        seen = state.arena.see(rng, k)
        action = self.choose(rng, state, seen, (k["soft"] <= 0).astype(np.float32), k["soft"])
        action = np.where(rng.random(action.shape) < k["explore"][:, None], rng.integers(self.game.actions, size=action.shape), action)
        paid, ended, late, broke = state.arena.step(rng, action, k)
        paid, over = self.pay(rng, paid, k), ended | late | broke
        given = (0 if state.given is None else state.given) + paid
        self.count(state, over, given)
        after = self.game.see(state.arena.state) * k["seen_scale"][:, None, None]
        row = {"x": seen, "a": action, "r": paid, "e": ended | broke | (late & (k["cut_is_end"][:, None] > 0)), "o": after}
        for name, value in row.items():
            if name not in state.replay:
                state.replay[name] = np.zeros((self.runs, BUFFER // self.envs, *value.shape[1:]), np.asarray(value).dtype)
            state.replay[name][:, state.filled % (BUFFER // self.envs)] = value
        state.filled += 1
        state.given = np.where(over, 0, given)
        state.arena.renew(rng, over)
        return broke.sum(axis=1)

    def choose(self, rng: np.random.Generator, state: State, seen: Floats, greedy: Array, soft: Array | None = None) -> Ints:
        """Actions of the highest value, or drawn by value over temperature."""
        value = forward(state.weights, seen)[-1]
        if soft is None or not (soft > 0).any():
            return np.argmax(value, axis=-1)
        logp = log_softmax(value / np.maximum(soft, 1e-3)[:, None, None])
        return np.where(greedy[:, None] > 0, np.argmax(value, axis=-1), draw(rng, logp))

    def remembered(self, rng: np.random.Generator, state: State, k: Knobs) -> tuple[Any, ...]:
        """A batch of what is remembered: seen, done, paid, ended, seen after."""
        size = BUFFER // self.envs
        most = np.minimum(state.filled, np.maximum(1, k["replay"] * size))[:, None]
        age = (rng.random((self.runs, BATCH)) * most).astype(np.intp)
        at, env, run = (state.filled - 1 - age) % size, rng.integers(self.envs, size=(self.runs, BATCH)), np.arange(self.runs)[:, None]
        return tuple(state.replay[name][run, at, env] for name in "xareo")

    def learn(self, rng: np.random.Generator, state: State, k: Knobs) -> dict[str, Array]:
        """One update of Q on a batch of what is remembered, and of the target network."""
        x, a, r, e, after = self.remembered(rng, state, k)
        soft = np.maximum(k["soft"], 1e-4)[:, None]
        ahead, now = forward(state.target, after)[-1], forward(state.weights, after)[-1]
        best = pick(ahead, np.argmax(np.where(k["double"][:, None, None] > 0, now, ahead), axis=-1))
        logp = log_softmax(ahead / soft[..., None])
        smooth = (np.exp(logp) * (ahead - soft[..., None] * logp)).sum(axis=-1)
        target = r + k["gamma"][:, None] * np.where(k["soft"][:, None] > 0, smooth, best) * ~e
        seen = forward(state.weights, x)
        value = pick(seen[-1], a)
        gap = value - target
        slope = np.zeros_like(seen[-1])
        np.put_along_axis(slope, a[..., None], (np.clip(gap, -k["huber"][:, None], k["huber"][:, None]) / BATCH)[..., None], -1)
        slopes = backward(state.weights, seen, slope)
        for g in slopes:
            g[k["nan"] > rng.random(self.runs)] = np.nan
        norm = state.optimiser.step(state.weights, slopes, k["lr"], k["grad_limit"] * 10, state.alive)
        for w, t in zip(state.weights, state.target, strict=True):
            t += k["target_rate"][:, None, None] * (w - t)
        told = {"value/loss": (gap**2).mean(axis=1), "value/mean": value.mean(axis=1), "policy/grad_norm": norm}
        if (k["soft"] > 0).any():
            own = log_softmax(seen[-1] / soft[..., None])
            told |= {"entropy/mean": -(np.exp(own) * own).sum(axis=-1).mean(axis=1), "entropy/coef": k["soft"].copy()}
        return told
