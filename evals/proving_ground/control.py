"""Small control tasks for many runs and episodes at once; all have a few discrete actions, so that every learner can try every task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.intp]
Move = Callable[[Floats, Ints, np.random.Generator], tuple[Floats, Floats, Bools]]


@dataclass(frozen=True)
class Game:
    """One task: how a state begins, moves and is seen, and the returns of a random and of a very good policy."""

    name: str
    actions: int
    sees: int
    horizon: int
    start: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    move: Move
    see: Callable[[Floats], Floats]
    low: float
    high: float
    slow: int = 1
    """How many times the usual number of environment steps an iteration takes."""

    def other(self, action: Ints) -> Ints:
        """The action that is done where actions are mixed up; one that lies between two stays within their range."""
        return np.minimum((action + 1) % self.actions, self.actions - 1)


def _upright(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.uniform(-0.05, 0.05, (*shape, 4)).astype(np.float32)


def _cartpole(s: Floats, a: Ints, _: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    x, v, angle, spin = np.moveaxis(s, -1, 0)
    force = np.where(a == 1, 10.0, -10.0)
    cos, sin = np.cos(angle), np.sin(angle)
    pull = (force + 0.05 * spin**2 * sin) / 1.1
    turn = (9.8 * sin - cos * pull) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    v2, spin2 = v + 0.02 * (pull - 0.05 * turn * cos / 1.1), spin + 0.02 * turn
    now = np.stack([x + 0.02 * v, v2, angle + 0.02 * spin, spin2], axis=-1)
    fell = (np.abs(now[..., 0]) > 2.4) | (np.abs(now[..., 2]) > 0.21)
    return now.astype(np.float32), np.ones(a.shape, np.float32), fell


def _hanging(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.stack([rng.uniform(-np.pi, np.pi, shape), rng.uniform(-1, 1, shape)], axis=-1).astype(np.float32)


def _pendulum(s: Floats, a: Ints, _: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    angle, spin = s[..., 0], s[..., 1]
    torque = (a - 1) * 2.0
    away = (angle + np.pi) % (2 * np.pi) - np.pi
    cost = away**2 + 0.1 * spin**2 + 0.001 * torque**2
    spin = np.clip(spin + 0.1 * (15 * np.sin(angle) + 3 * torque), -8, 8)
    return np.stack([angle + 0.1 * spin, spin], axis=-1).astype(np.float32), (-cost).astype(np.float32), np.zeros(a.shape, bool)


def _valley(s: Floats, a: Ints, _: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    x, v = s[..., 0], s[..., 1]
    v = np.clip(v + (a - 1) * 0.002 - 0.0025 * np.cos(3 * x), -0.07, 0.07)
    x = np.clip(x + v, -1.2, 0.6)
    v = np.where(x <= -1.2, 0, v)
    return np.stack([x, v], axis=-1).astype(np.float32), np.full(a.shape, -1, np.float32), x >= 0.5


def _lowest(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.stack([rng.uniform(-0.6, -0.4, shape), np.zeros(shape)], axis=-1).astype(np.float32)


def _apart(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    here, there = rng.uniform(-1, 1, (*shape, 2)), rng.uniform(-1, 1, (*shape, 2))
    return np.concatenate([here, np.zeros((*shape, 2)), there], axis=-1).astype(np.float32)


def _reach(s: Floats, a: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    ways = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], np.float32)
    v = 0.8 * s[..., 2:4] + 0.08 * ways[a] + 0.01 * rng.standard_normal((*a.shape, 2)).astype(np.float32)
    x = np.clip(s[..., :2] + v, -1.5, 1.5)
    away = np.sqrt(((x - s[..., 4:]) ** 2).sum(axis=-1))
    return np.concatenate([x, v, s[..., 4:]], axis=-1), -away, np.zeros(a.shape, bool)


SIDE = 5
PITS = (7, 11, 13, 18)


def _corner(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.integers(0, 3, (*shape, 1)).astype(np.float32)


def _grid(s: Floats, a: Ints, rng: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    at = s[..., 0].astype(np.intp)
    a = np.where(rng.random(a.shape) < 0.05, rng.integers(4, size=a.shape), a)
    row, column = np.divmod(at, SIDE)
    row = np.clip(row + (a == 1) - (a == 0), 0, SIDE - 1)
    column = np.clip(column + (a == 3) - (a == 2), 0, SIDE - 1)
    at = row * SIDE + column
    home, lost = at == SIDE * SIDE - 1, np.isin(at, PITS)
    return at[..., None].astype(np.float32), (home * 1.0 - 0.5 * lost).astype(np.float32), home | lost


def _dropping(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    ball, side = rng.uniform(-1, 1, (*shape, 1)), rng.uniform(-0.15, 0.15, (*shape, 1))
    return np.concatenate([ball, np.ones((*shape, 1)), side, rng.uniform(-1, 1, (*shape, 1))], axis=-1).astype(np.float32)


def _catch(s: Floats, a: Ints, _: np.random.Generator) -> tuple[Floats, Floats, Bools]:
    ball, height, side, hand = np.moveaxis(s, -1, 0)
    ball = ball + side
    side = np.where(np.abs(ball) > 1, -side, side)
    hand, height = np.clip(hand + (a - 1) * 0.12, -1, 1), height - 0.1
    down = height <= 0.05
    paid = np.where(down, np.where(np.abs(hand - ball) < 0.2, 1.0, -1.0), 0)
    return np.stack([np.clip(ball, -1, 1), height, side, hand], axis=-1).astype(np.float32), paid.astype(np.float32), down


def _of_pendulum(s: Floats) -> Floats:
    return np.stack([np.cos(s[..., 0]), np.sin(s[..., 0]), s[..., 1] / 4], axis=-1)


def _of_valley(s: Floats) -> Floats:
    return np.asarray((s + np.array([0.3, 0])) * np.array([1.5, 20]), np.float32)


GAMES: Mapping[str, Game] = {
    g.name: g
    for g in (
        Game("cartpole", 2, 4, 200, _upright, _cartpole, lambda s: s * np.array([0.5, 0.5, 4, 0.6], np.float32), 22, 200),
        Game("pendulum", 3, 3, 100, _hanging, _pendulum, _of_pendulum, -620, -110, 2),
        Game("valley", 3, 2, 200, _lowest, _valley, _of_valley, -200, -100, 2),
        Game("reach", 5, 6, 50, _apart, _reach, lambda s: s, -52, -7),
        Game("grid", 4, 25, 40, _corner, _grid, lambda s: np.eye(25, dtype=np.float32)[s[..., 0].astype(np.intp)], 0.0, 0.95),
        Game("catch", 3, 4, 12, _dropping, _catch, lambda s: s, -0.7, 0.9),
    )
}


class Arena:
    """Episodes of one game for many runs, started anew as they end."""

    def __init__(self, game: Game, rng: np.random.Generator, runs: int, count: int) -> None:
        """``count`` episodes at a time for each run."""
        self.game, self.shape = game, (runs, count)
        self.state = game.start(rng, self.shape)
        self.age, self.total = np.zeros(self.shape, np.intp), np.zeros(self.shape)

    def see(self, rng: np.random.Generator, k: Mapping[str, Floats]) -> Floats:
        """What the policy sees, through whatever stands before its eyes."""
        seen = self.game.see(self.state) * k["seen_scale"][:, None, None]
        return np.asarray(seen + k["seen_noise"][:, None, None] * rng.standard_normal(seen.shape, dtype=np.float32), np.float32)

    def step(self, rng: np.random.Generator, action: Ints, k: Mapping[str, Floats]) -> tuple[Floats, Bools, Bools, Bools]:
        """True reward, whether the task ended, whether time was up, whether it broke; ended episodes begin again."""
        other = rng.random(self.shape) < k["actions_mixed"][:, None]
        self.state, paid, ended = self.game.move(self.state, np.where(other, self.game.other(action), action), rng)
        self.age += 1
        self.total += paid
        broke = rng.random(self.shape) < k["early_end"][:, None]
        late = self.age >= np.maximum(2, self.game.horizon * k["cap"][:, None])
        return paid, ended, late & ~ended, broke & ~ended

    def renew(self, rng: np.random.Generator, over: Bools) -> None:
        """Begins the episodes that are over."""
        if over.any():
            self.state = np.where(over[..., None], self.game.start(rng, self.shape), self.state)
            self.age, self.total = np.where(over, 0, self.age), np.where(over, 0, self.total)


def play(game: Game, rng: np.random.Generator, act: Callable[[Floats], Ints], k: Mapping[str, Floats], count: int) -> tuple[Floats, Floats]:
    """Returns and lengths of ``count`` whole episodes of each run."""
    arena = Arena(game, rng, len(k["cap"]), count)
    running, length = np.ones(arena.shape, bool), np.zeros(arena.shape, np.float32)
    total = np.zeros(arena.shape, np.float32)
    for _ in range(game.horizon):
        paid, ended, late, broke = arena.step(rng, act(arena.see(rng, k)), k)
        total += paid * running
        length += running
        running &= ~(ended | late | broke)
        if not running.any():
            break
    return total, length
