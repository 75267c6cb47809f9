"""Soft actor-critic with continuous actions for many runs at once, on the games whose actions lie on a line."""

import numpy as np
from evals.proving_ground.control import Floats, Game
from evals.proving_ground.critics import State
from evals.proving_ground.nets import Adam, Array, Weights, backward, forward, network, through
from evals.proving_ground.qlearning import BATCH, QLearning
from evals.proving_ground.sequences import Knobs

GAMES = ("catch", "pendulum", "valley")
"""What an action between two of the discrete ones makes sense in."""
NARROW, WIDE = -4.0, 1.0
"""Bounds of the logarithm of the policy's spread."""
Drawn = tuple[Array, Array, Array, Array, list[Array]]


class SoftActorCritic(QLearning):
    """SAC with two values for every action, of which the lower one counts; the temperature is fixed."""

    updates = 24

    def __init__(self, game: Game, rng: np.random.Generator, runs: int, envs: int, length: int, width: int = 32) -> None:
        """As for Q-learning."""
        super().__init__(game, rng, runs, envs, length, width)
        self.actor = network(rng, runs, (game.sees, width, width, 2), 0.05)
        self.critic = network(rng, runs, (game.sees + 1, width, width, 2), 0.5)

    def begin(self) -> State:
        """The state before the first step; the target is a copy of the critic."""
        state = super().begin()
        state.target, state.other = [w.copy() for w in self.critic], Adam()
        return state

    def choose(self, rng: np.random.Generator, state: State, seen: Floats, greedy: Array, soft: Array | None = None) -> Floats:
        """Actions on the scale of the game: the middle of the policy, or drawn."""
        act, middle, *_ = drawn(rng, state.weights, seen)
        best = (greedy[:, None] > 0) & (soft is None)
        return np.asarray((np.where(best, np.tanh(middle), act) + 1) * (self.game.actions - 1) / 2, np.float32)

    def learn(self, rng: np.random.Generator, state: State, k: Knobs) -> dict[str, Array]:
        """One update of the critic and of the actor on a batch of what is remembered, and of the target."""
        x, a, r, e, after = self.remembered(rng, state, k)
        soft = k["soft"][:, None]
        ahead, _, chance, _, _ = drawn(rng, state.weights, after)
        worth = forward(state.target, joined(after, ahead))[-1].min(axis=-1) - soft * chance
        target = r + k["gamma"][:, None] * worth * ~e
        seen = forward(state.critic, joined(x, 2 * a / (self.game.actions - 1) - 1))
        gap = seen[-1] - target[..., None]
        limit = k["huber"][:, None, None]
        slopes = backward(state.critic, seen, (np.clip(gap, -limit, limit) / BATCH).astype(np.float32))
        state.other.step(state.critic, slopes, k["lr"], k["grad_limit"] * 10, state.alive)
        told = self.improve(rng, state, x, k)
        for w, t in zip(state.critic, state.target, strict=True):
            t += k["target_rate"][:, None, None] * (w - t)
        return told | {"value/loss": (gap**2).mean(axis=(1, 2)), "value/mean": seen[-1].mean(axis=(1, 2)), "entropy/coef": k["soft"].copy()}

    def improve(self, rng: np.random.Generator, state: State, x: Array, k: Knobs) -> dict[str, Array]:
        """One step of the actor to where the critic is higher and the policy wider."""
        act, _, chance, noise, seen = drawn(rng, state.weights, x)
        values = forward(state.critic, joined(x, act))
        lower = np.eye(2, dtype=np.float32)[values[-1].argmin(axis=-1)]
        rise = through(state.critic, values, lower)[..., -1] * k["gain_scale"][:, None]
        soft = k["soft"][:, None]
        pull = 2 * soft * act - rise * (1 - act**2)
        inside = (seen[-1][..., 1] > NARROW) & (seen[-1][..., 1] < WIDE)
        slope = np.stack([pull, (pull * noise - soft) * inside], axis=-1) / BATCH
        slopes = backward(state.weights, seen, slope.astype(np.float32))
        for g in slopes:
            g[k["nan"] > rng.random(self.runs)] = np.nan
        norm = state.optimiser.step(state.weights, slopes, k["lr"], k["grad_limit"] * 10, state.alive)
        loss = (soft * chance - values[-1].min(axis=-1)).mean(axis=1)
        return {"policy/loss": loss, "policy/grad_norm": norm, "entropy/mean": -chance.mean(axis=1)}


def joined(x: Array, act: Array) -> Array:
    """What the critic sees: the state and the action."""
    return np.concatenate([x, act[..., None]], axis=-1).astype(np.float32)


def drawn(rng: np.random.Generator, weights: Weights, x: Array) -> Drawn:
    """Actions between -1 and 1, the policy's middle before it is bent, the actions' log-probability, their noise, and what the layers made."""
    seen = forward(weights, x)
    middle, wide = seen[-1][..., 0], np.clip(seen[-1][..., 1], NARROW, WIDE)
    luck = rng.standard_normal(middle.shape, dtype=np.float32)
    act = np.tanh(middle + np.exp(wide) * luck)
    chance = -0.5 * luck**2 - wide - 0.919 - np.log(1 - act**2 + 1e-6)
    return act, middle, chance, np.exp(wide) * luck, seen
