"""Which names are those of reinforcement learning: an outcome of episodes, or what only a learner has."""

import re
from collections.abc import Iterable

from rl_advisor.vocabulary import words

FEWEST = 3
"""Names that a log has at least, where only one of them is a learner's."""
_OUTCOME = re.compile(r"\b(?:rewards?|returns?|(?:ep)?rew(?:mean)?|(?:ep)?ret|episodic|avgr|r)\b")
_SCORE = re.compile(r"\b(?:scores?|(?:success|win|solve|pass)(?:es)? ?rate|success|accuracy|acc|wins?|elo|correct)\b|win ?rate")
_LEARNER = re.compile(
    r"\b(?:(?<!cross )entropy|mismatch kl|(?:policy|value|actor|critic|q|pg|vf|rl|ppo|grpo) loss|clipfrac|epsilon|explained variance"
    r"|td error|pol surr|kl|advantages?)\b"
)
_SPEAKS = re.compile(f"{_OUTCOME.pattern}|{_SCORE.pattern}|{_LEARNER.pattern}|loss")
_EPISODES = re.compile(r"\b(?:ep|episodes?|timesteps?|frames?|iter\w*|updates?|env|rollout)\b")
"""Counts beside which a score is one of episodes."""
_ENV_STEPS = re.compile(r"\b(?:timesteps?|t env|env(?:ironment)? steps?|env interacts)\b")
_MEANS = {"avg", "average", "mean", "best avg"}
"""What a log of episodes calls their mean return where it is short of words."""


def speaks(name: str) -> bool:
    """Whether a name is one of an outcome or of a learner."""
    return _SPEAKS.search(words(name)) is not None


def of_a_learner(names: Iterable[str], axis: str) -> bool:
    """Whether these are names that a run of reinforcement learning prints: an outcome of episodes, or what only a learner has."""
    said = [words(name) for name in names]
    episodes = _EPISODES.search(words(axis)) is not None
    learner = sum(_LEARNER.search(text) is not None for text in said)
    outcome = any(_OUTCOME.search(text) or ((episodes or learner) and (_SCORE.search(text) or text in _MEANS)) for text in said)
    acting = _ENV_STEPS.search(words(axis)) is not None and any("loss" in text for text in said)
    return outcome or acting or (learner >= 1 and len(said) >= FEWEST)
