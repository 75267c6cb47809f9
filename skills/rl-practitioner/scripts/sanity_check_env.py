"""Is this Gymnasium environment wired as it says? Run it yourself, before training: python sanity_check_env.py CartPole-v1."""

import sys

import gymnasium
import numpy as np


def episode(env: gymnasium.Env, seed: int, actions: int = 0, most: int = 10_000) -> list[tuple[np.ndarray, float]]:
    """One episode of actions drawn from a seed of their own; complains about the first thing that is not as the environment declares it."""
    env.action_space.seed(actions)
    observation, told = env.reset(seed=seed)
    assert isinstance(told, dict), "reset() must return (observation, info)"
    seen = []
    for _ in range(most):
        assert env.observation_space.contains(observation), f"observation outside {env.observation_space}: {observation}"
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert np.isfinite(float(reward)), f"reward is no finite number: {reward!r}"
        assert isinstance(terminated, (bool, np.bool_)) and isinstance(truncated, (bool, np.bool_)), "terminated, truncated: two booleans"
        seen.append((np.asarray(observation, float).ravel(), float(reward)))
        if terminated or truncated:
            return seen
    raise AssertionError(f"no episode ended within {most} steps: is a terminal signal missing?")


if __name__ == "__main__":
    made = gymnasium.make(sys.argv[1])
    first, again, other = episode(made, 0), episode(made, 0), episode(made, 1)
    same = len(first) == len(again) and all(np.array_equal(a, b) and x == y for (a, x), (b, y) in zip(first, again, strict=True))
    assert same, "the same seed gave another episode: results cannot be repeated"
    moved = any(not np.array_equal(a, b) for (a, _), (b, _) in zip(first, other, strict=False))
    assert moved, "another seed gave the same episode: it is ignored"
    acted = [episode(made, 0, actions) for actions in range(1, 6)]
    heard = any(
        len(first) != len(e) or any(not np.array_equal(a, b) or x != y for (a, x), (b, y) in zip(first, e, strict=True)) for e in acted
    )
    assert heard, "other actions from the same start change nothing: do actions arrive?"
    returns = [sum(reward for _, reward in e) for e in (first, other)]
    print(f"ok: episodes of {len(first)} and {len(other)} steps, returns {returns[0]:g} and {returns[1]:g}")  # noqa: T201
