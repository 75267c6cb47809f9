"""Episodes of a random and of a scripted policy in a Gymnasium environment, one JSON line each, for `rl-advisor preflight`.

Run it yourself: python episodes.py CartPole-v1 --out random.jsonl
         then with your own rule in `act` below: python episodes.py CartPole-v1 --scripted --out scripted.jsonl
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path


def act(observation: Sequence[float]) -> int:
    """The action that a person would take; replace it. This one balances CartPole."""
    return int(observation[2] + 0.5 * observation[3] > 0)


def main() -> None:
    """Play the episodes and write their returns and lengths."""
    import gymnasium

    parser = argparse.ArgumentParser()
    parser.add_argument("env")
    parser.add_argument("--scripted", action="store_true")
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="random.jsonl")
    asked = parser.parse_args()
    env = gymnasium.make(asked.env)
    env.action_space.seed(asked.seed)
    with Path(asked.out).open("w") as out:
        for episode in range(asked.episodes):
            observation, _ = env.reset(seed=asked.seed + episode)
            total, steps, over = 0.0, 0, False
            while not over:
                action = act(observation) if asked.scripted else env.action_space.sample()
                observation, reward, ended, cut, _ = env.step(action)
                total, steps, over = total + float(reward), steps + 1, ended or cut
            out.write(json.dumps({"env_id": asked.env, "episode": episode, "return": total, "length": steps}) + "\n")


if __name__ == "__main__":
    main()
