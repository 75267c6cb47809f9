"""Small networks for many runs at once: the first axis of every array is the run, so that one product trains them all."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Weights = list[Array]
"""Weight and bias of every layer in turn: (runs, inputs, outputs) and (runs, 1, outputs)."""


def network(rng: np.random.Generator, runs: int, sizes: tuple[int, ...], last: float = 0.1) -> Weights:
    """Random weights of a network with tanh between its layers; ``last`` scales the output layer."""
    made: Weights = []
    for i, (n, m) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        scale = (last if i == len(sizes) - 2 else 1.0) / np.sqrt(n)
        made += [(rng.standard_normal((runs, n, m)) * scale).astype(np.float32), np.zeros((runs, 1, m), np.float32)]
    return made


def forward(weights: Weights, x: Array) -> list[Array]:
    """The input and what every layer makes of it; the last one is the output."""
    seen = [x]
    for i in range(0, len(weights), 2):
        x = x @ weights[i] + weights[i + 1]
        if i < len(weights) - 2:
            np.tanh(x, out=x)
        seen.append(x)
    return seen


def backward(weights: Weights, seen: list[Array], slope: Array) -> Weights:
    """The gradient of every weight, from that of the output."""
    found: Weights = [np.empty(0, np.float32)] * len(weights)
    for i in range(len(weights) - 2, -1, -2):
        below = seen[i // 2]
        found[i], found[i + 1] = below.transpose(0, 2, 1) @ slope, slope.sum(axis=1, keepdims=True)
        if i:
            slope = (slope @ weights[i].transpose(0, 2, 1)) * (1 - below**2)
    return found


def through(weights: Weights, seen: list[Array], slope: Array) -> Array:
    """The gradient of the input, from that of the output."""
    for i in range(len(weights) - 2, -1, -2):
        slope = slope @ weights[i].transpose(0, 2, 1)
        if i:
            slope *= 1 - seen[i // 2] ** 2
    return slope


@dataclass
class Adam:
    """The optimiser's memory, with its own count of steps for every run."""

    first: Weights = field(default_factory=list)
    second: Weights = field(default_factory=list)
    count: Array = field(default_factory=lambda: np.zeros(0, np.float32))

    def forget(self, runs: npt.NDArray[np.bool_]) -> None:
        """Empties the memory of these runs, as a restart without its optimiser does."""
        if self.first and runs.any():
            self.count[runs] = 0
            for kept in self.first + self.second:
                kept[runs] = 0

    def step(self, weights: Weights, slopes: Weights, rate: Array, limit: Array, alive: npt.NDArray[np.bool_]) -> Array:
        """Moves the weights of the runs that are ``alive`` downhill; the norm of every run's gradient before it was cut at ``limit``."""
        runs = len(rate)
        if not self.first:
            self.first, self.second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
            self.count = np.zeros(runs, np.float32)
        norm = np.sqrt(sum(np.square(g.reshape(runs, -1)).sum(axis=1) for g in slopes))
        self.count += alive
        cut = np.minimum(1, limit / (norm + 1e-9)).astype(np.float32)[:, None, None]
        at = np.maximum(self.count, 1)
        size = (np.where(alive, rate, 0) * np.sqrt(1 - 0.999**at) / (1 - 0.9**at)).astype(np.float32)[:, None, None]
        kept = alive[:, None, None]
        for w, g, m, v in zip(weights, slopes, self.first, self.second, strict=True):
            g = g * cut
            np.copyto(m, m + 0.1 * (g - m), where=kept)
            np.copyto(v, v + 0.001 * (g * g - v), where=kept)
            w -= size * m / (np.sqrt(v) + 1e-8)
        return norm.astype(np.float32)


def log_softmax(logits: Array) -> Array:
    """Log-probabilities over the last axis."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def draw(rng: np.random.Generator, logp: Array) -> npt.NDArray[np.intp]:
    """One choice for every row of log-probabilities."""
    noise = rng.random(logp.shape, dtype=np.float32)
    return np.argmax(logp - np.log(-np.log(noise + 1e-12) + 1e-12), axis=-1)


def pick(values: Array, places: npt.NDArray[np.intp]) -> Array:
    """The value at the chosen place of every row."""
    return np.take_along_axis(values, places[..., None], axis=-1)[..., 0]
