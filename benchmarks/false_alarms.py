"""How often the built-in advisor calls a healthy run broken: generated runs of every shape that healthy training takes.

Run ``python benchmarks/false_alarms.py`` (minutes), or with ``--runs 70`` for a rough look.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from evals.drawn import make_run, noise
from rl_advisor.finding import BROKEN
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.verdict import judge
from rl_advisor.run import Floats, Run

Draw = np.random.Generator
Curves = dict[str, Floats]
EVERY = 10
"""Steps between two evaluations."""


def coloured(rng: Draw, n: int, sd: float, phi: float = 0.3) -> Floats:
    """AR(1) noise with a seed drawn from ``rng``."""
    return noise(n, sd, phi, int(rng.integers(2**31)))


def levels(rng: Draw) -> tuple[float, float]:
    """Where a share starts and where it ends, with a gain of at least a fifth."""
    low = float(rng.uniform(0.05, 0.5))
    return low, float(rng.uniform(low + 0.2, 0.95))


def shares(mean: Floats, rng: Draw, samples: int) -> Floats:
    """Observed shares of ``samples`` draws around each mean."""
    return rng.binomial(samples, np.clip(mean, 0, 1)) / samples


def beside(rng: Draw, mean: Floats) -> Curves:
    """What a trainer logs beside the reward of a run that learns: length, entropy, gradient, rate; each with noise of some memory."""
    n, t = mean.size, np.linspace(0, 1, mean.size)
    return {
        "response/length": float(rng.uniform(100, 900)) * (1 + float(rng.uniform(-0.15, 0.3)) * t + coloured(rng, n, 0.05)),
        "entropy/mean": float(rng.uniform(0.2, 1.2)) * (1 - float(rng.uniform(0.1, 0.5)) * t) * np.exp(coloured(rng, n, 0.06)),
        "policy/grad_norm": float(rng.uniform(0.1, 2)) * np.exp(coloured(rng, n, 0.3)),
        "policy/learning_rate": 1e-6 * (1 - t),
    }


def learning(mean: Floats, rng: Draw, sd: float = 0.03, phi: float = 0.3, samples: int = 200, every: int = EVERY) -> Curves:  # noqa: PLR0913
    """The curves of a run whose reward and held-out score both follow ``mean``."""
    score = shares(mean[::every] * float(rng.uniform(0.75, 1)), rng, samples)
    return {"reward/mean": np.clip(mean + coloured(rng, mean.size, sd, phi), 0, 1), "eval/score/accuracy": score, **beside(rng, mean)}


def rise(rng: Draw, n: int, way: Floats) -> Floats:
    """A rise along ``way``, which goes from 0 to about 1."""
    low, high = levels(rng)
    return low + (high - low) * way[:n]


def saturating(rng: Draw, n: int = 200) -> Curves:
    """A fast rise that levels off."""
    return learning(rise(rng, n, 1 - np.exp(-np.arange(n) / (n * rng.uniform(0.05, 0.3)))), rng)


def linear(rng: Draw, n: int = 200) -> Curves:
    """A steady rise."""
    return learning(rise(rng, n, np.linspace(0, 1, n)), rng)


def late(rng: Draw, n: int = 200) -> Curves:
    """Nothing for long, then a fast rise."""
    return learning(rise(rng, n, 1 / (1 + np.exp(-(np.linspace(0, 1, n) - rng.uniform(0.5, 0.75)) * 20))), rng)


def noisy(rng: Draw, n: int = 200) -> Curves:
    """A rise under white noise as large as a good part of it, few test prompts."""
    return learning(rise(rng, n, np.linspace(0, 1, n)), rng, sd=float(rng.uniform(0.1, 0.2)), phi=0.0, samples=64)


def at_ceiling(rng: Draw, n: int = 200) -> Curves:
    """A run that starts where nothing is left to gain, on the held-out prompts too."""
    level = np.full(n, rng.uniform(0.985, 0.997))
    return learning(level, rng, sd=0.004) | {"eval/score/accuracy": shares(level[::EVERY], rng, 500)}


def returns(rng: Draw, n: int = 300) -> Curves:
    """Unbounded returns as a moving average over 100 episodes, no evaluations; the critic is logged."""
    way, scale = 1 - np.exp(-np.arange(n + 10) / (n * rng.uniform(0.1, 0.4))), float(10 ** rng.uniform(1, 3.5))
    raw = scale * (way + float(rng.uniform(-1, 0)) + rng.normal(0, 0.25, n + 10))
    mean = np.convolve(raw, np.ones(11) / 11, "valid")[:n]
    explained = np.clip(0.9 * way[:n] + rng.normal(0, 0.08, n), -1, 1)
    step_size = {"kl/old": np.abs(rng.normal(0.008, 0.003, n)), "ratio/clip_fraction": np.abs(rng.normal(0.1, 0.03, n))}
    critic = {"value/loss": scale * np.exp(rng.normal(0, 0.3, n)), "value/explained_variance": explained}
    return {"reward/mean": mean, **critic, **step_size}


def few_evaluations(rng: Draw, n: int = 200) -> Curves:
    """A saturating rise with five to eight evaluations of few prompts."""
    way = 1 - np.exp(-np.arange(n) / (n * rng.uniform(0.1, 0.3)))
    return learning(rise(rng, n, way), rng, samples=100, every=n // int(rng.integers(5, 9)))


def binomial(rng: Draw, n: int = 200) -> Curves:
    """Rewards that are shares of 32 to 64 right answers."""
    curves = learning(rise(rng, n, 1 - np.exp(-np.arange(n) / (n * 0.3))), rng)
    mean = rise(rng, n, 1 - np.exp(-np.arange(n) / (n * rng.uniform(0.1, 0.5))))
    return curves | {"reward/mean": shares(mean, rng, int(rng.integers(32, 65))), "eval/score/accuracy": shares(mean[::EVERY], rng, 100)}


def dips(rng: Draw, n: int = 200) -> Curves:
    """A rise with one dip in its first two thirds, which recovers."""
    mean = rise(rng, n, np.linspace(0, 1, n))
    at, width = rng.uniform(0.2, 0.6) * n, rng.uniform(0.02, 0.05) * n
    depth = rng.uniform(0.2, 0.6) * mean[int(at)]
    return learning(mean - depth * np.exp(-((np.arange(n) - at) ** 2) / (2 * width**2)), rng)


def long_memory(rng: Draw, n: int = 200) -> Curves:
    """A saturating rise under noise of lag-one correlation 0.9."""
    way = 1 - np.exp(-np.arange(n) / (n * rng.uniform(0.1, 0.3)))
    return learning(rise(rng, n, way), rng, sd=float(rng.uniform(0.03, 0.06)), phi=0.9)


def certain(rng: Draw, n: int = 200) -> Curves:
    """Entropy decays to a small part of its start while reward and score go on rising."""
    curves = learning(rise(rng, n, np.linspace(0, 1, n) ** 0.7), rng)
    left = float(rng.uniform(0.05, 0.3))
    decay = float(rng.uniform(0.3, 1)) * (left + (1 - left) * np.exp(-np.arange(n) / (n * 0.25)))
    return curves | {"entropy/mean": decay * np.exp(coloured(rng, n, 0.05))}


def free_drift(rng: Draw, n: int = 200) -> Curves:
    """No KL penalty: KL to the reference grows all along, at a level that has nothing to do with harm, and responses get longer."""
    curves = learning(rise(rng, n, 1 - np.exp(-np.arange(n) / (n * 0.4))), rng)
    drift = float(rng.uniform(0.05, 0.6)) * np.linspace(0, 1, n) * np.exp(coloured(rng, n, 0.1))
    return curves | {"kl/ref": drift, "response/length": 300 * (1 + np.linspace(0, 1, n)) * np.exp(coloured(rng, n, 0.05))}


def long(rng: Draw) -> Curves:
    """A saturating run of 5,000 steps."""
    return saturating(rng, 5000)


def short(rng: Draw) -> Curves:
    """A rising run of 30 steps, evaluated every tenth."""
    return linear(rng, 30)


SHAPES: tuple[Callable[[Draw], Curves], ...] = (
    saturating,
    linear,
    late,
    noisy,
    at_ceiling,
    returns,
    few_evaluations,
    binomial,
    dips,
    long_memory,
    certain,
    free_drift,
    long,
    short,
)


def healthy_runs(count: int, seed: int = 0) -> Iterator[tuple[str, Run]]:
    """``count`` healthy runs with the name of their shape, the shapes in turn; half of them stand at the end of their plan."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        curves = SHAPES[i % len(SHAPES)](rng)
        n = curves["reward/mean"].size
        score = curves.get("eval/score/accuracy")
        every = EVERY if score is None else int(np.ceil(n / score.size))
        planned = n if rng.random() < 0.5 else round(n * rng.uniform(1.2, 3))
        yield SHAPES[i % len(SHAPES)].__name__, make_run(curves, planned=planned, evals_every=every, save_every=max(5, n // 4))


def called_broken(run: Run) -> str:
    """What the built-in advisor calls broken and which pattern it blames, empty when it calls nothing broken."""
    judged = judge(open_case(run))
    if judged.verdict not in BROKEN and judged.cause is None and judged.link is None:
        return ""
    return f"{judged.verdict} ({judged.cause.pattern if judged.cause else 'no pattern'})"


def tally(count: int, seed: int = 0) -> dict[str, Counter[str]]:
    """Shape -> how often each answer was given; the empty one means that nothing was called broken."""
    seen = {shape.__name__: Counter[str]() for shape in SHAPES}
    for shape, run in healthy_runs(count, seed):
        seen[shape][called_broken(run)] += 1
    return seen


def main() -> None:
    """Prints the share called broken per shape, and what was blamed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seen = tally(asked.runs, asked.seed)
    wrong = 0
    for shape, said in seen.items():
        false = {answer: n for answer, n in said.items() if answer}
        wrong += sum(false.values())
        print(f"{shape:16} {sum(false.values()):3} of {said.total():3}  {', '.join(f'{a}: {n}' for a, n in false.items())}")
    print(f"called broken: {wrong} of {asked.runs} ({100 * wrong / asked.runs:.1f} percent)")


if __name__ == "__main__":
    main()
