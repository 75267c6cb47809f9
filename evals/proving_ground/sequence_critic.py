"""PPO with a value model on the token task: every token has its own advantage, and there are no groups to learn from."""

from typing import Any

import numpy as np
from evals.proving_ground.nets import Adam, Array, backward, forward, network
from evals.proving_ground.sequences import Knobs, Sequences, State, of_rewards
from evals.proving_ground.tokens import Batch

WIDTH = 32
UPDATES, RATE = 4, np.float32(0.005)
"""Steps of the value model on each batch, and its own learning rate."""


class WithCritic(Sequences):
    """The runs of one block, each with a value model beside its policy."""

    def __init__(self, *given: Any) -> None:
        """As without a value model; it starts from random weights."""
        super().__init__(*given)
        rng = given[1]
        self.values = network(rng, self.runs, (self.sampler.size, WIDTH, 1), 0.5)

    def begin(self) -> State:
        """The state before the first step."""
        state = super().begin()
        state.critic, state.other = [w.copy() for w in self.values], Adam()
        return state

    def gains(self, state: State, b: Batch, grouped: Array, k: Knobs) -> tuple[Array, dict[str, Array]]:
        """Generalised advantages of every token (runs, samples x tokens); the reward is paid at the last one. Then the values are fitted."""
        live = b.live.astype(np.float32)
        x = b.seen.reshape(self.runs, -1, self.sampler.size)
        value = forward(state.critic, x)[-1][..., 0].reshape(live.shape) * live
        last = live * (np.cumsum(live[..., ::-1], axis=2)[..., ::-1] == 1)
        paid = last * grouped.reshape(self.runs, -1, 1)
        gain, kept = np.zeros_like(value), np.zeros(value.shape[:2], np.float32)
        gamma, lam, base = (k[name][:, None] for name in ("gamma", "lam", "baseline"))
        for t in range(live.shape[2] - 1, -1, -1):
            ahead = value[..., t + 1] if t + 1 < live.shape[2] else 0.0
            kept = (paid[..., t] + gamma * ahead - base * value[..., t] + gamma * lam * kept) * live[..., t]
            gain[..., t] = kept
        flat, counts = gain.reshape(self.runs, -1), live.reshape(self.runs, -1)
        told = self.fit(state, x, flat + (base * value.reshape(self.runs, -1)), counts, k)
        return self.normal(flat, counts, k), told | {"value/mean": mean(value.reshape(self.runs, -1), counts)}

    def normal(self, gain: Array, live: Array, k: Knobs) -> Array:
        """Advantages with mean 0 and spread 1 over the tokens of a run, where it standardises."""
        middle = mean(gain, live)[:, None]
        spread = np.sqrt(mean((gain - middle) ** 2, live))[:, None] + 1e-4
        return np.asarray(np.where(k["standard"][:, None] > 0, (gain - middle) / spread, gain) * k["gain_scale"][:, None], np.float32)

    def fit(self, state: State, x: Array, target: Array, live: Array, k: Knobs) -> dict[str, Array]:
        """Some steps of the value model towards the returns; its error, and how much of the returns it explains."""
        total = np.maximum(live.sum(axis=1, keepdims=True), 1)
        told: dict[str, Array] = {}
        for _ in range(UPDATES):
            seen = forward(state.critic, x)
            gap = seen[-1][..., 0] - target
            slope = (np.clip(gap, -1e6, 1e6) * live / total)[..., None].astype(np.float32)
            told = told or {
                "value/loss": mean(gap**2, live),
                "value/explained_variance": 1 - spread(gap, live) / (spread(target, live) + 1e-8),
            }
            state.other.step(state.critic, backward(state.critic, seen, slope), RATE * k["critic_rate"], k["grad_limit"] * 10, state.alive)
        return told

    def of_rewards(self, grouped: Array, parts: dict[str, Array], gain: Array) -> dict[str, Array]:
        """What can be logged of a batch's rewards: nothing of groups."""
        return {name: value for name, value in of_rewards(grouped, parts, gain).items() if "group" not in name}


def mean(value: Array, live: Array) -> Array:
    """The mean over the tokens that were written."""
    return np.asarray((value * live).sum(axis=1) / np.maximum(live.sum(axis=1), 1))


def spread(value: Array, live: Array) -> Array:
    """The variance over the tokens that were written."""
    return mean((value - mean(value, live)[:, None]) ** 2, live)
