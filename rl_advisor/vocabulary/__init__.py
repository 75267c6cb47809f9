"""How we call things: the links of the training loop, the metrics, and what a framework's dialect is.

Every name that a detector, an advisor or a report uses is defined here and nowhere else. A name that ends in ``/*`` is a
family: ``reward/component/format`` is a member of ``reward/component/*``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from rl_advisor.discovery import table


class Link(StrEnum):
    """A stage of the training loop, declared in the order in which to suspect it: outside in."""

    ENVIRONMENT_DATA = "environment_data"
    EVALUATION = "evaluation"
    REWARD_SIGNAL = "reward_signal"
    TRAINING_SIGNAL = "training_signal"
    POLICY_UPDATE = "policy_update"
    EXPLORATION = "exploration"
    DATA_FRESHNESS = "data_freshness"
    NUMERICS = "numerics"
    SYSTEMS = "systems"


@dataclass(frozen=True)
class Metric:
    """One thing a trainer can log, in our words."""

    name: str
    link: Link
    unit: str
    meaning: str
    better: int = 0
    """1 when higher is better, -1 when lower is, 0 when neither can be said."""


METRICS = {name: Metric(name, Link(link), *rest) for name, (link, *rest) in table(__file__, "metrics.toml").items()}


@lru_cache(maxsize=1024)
def metric(name: str) -> Metric | None:
    """The metric of that name, by its family when it has no entry of its own; None for a name that is not ours."""
    if name in METRICS:
        return METRICS[name]
    return next((m for family, m in METRICS.items() if family.endswith("/*") and name.startswith(family[:-1])), None)


def metric_unit(name: str) -> str:
    """The unit of a metric; empty for one that has none, or that is not ours."""
    return known.unit if (known := metric(name)) else ""


class Dialect(NamedTuple):
    """What one framework calls things. Pure data; the patterns are full-match regular expressions."""

    name: str
    marks: tuple[str, ...]
    """Raw names that only this framework writes; the framework is recognised by how many of them are seen."""
    metrics: Mapping[str, str]
    """Raw name -> our name."""
    patterns: tuple[tuple[str, str], ...] = ()
    """Raw pattern -> template of our name; tried in order after ``metrics``."""
    trains: str = ""
    """The half of the field that it trains, where that is one: ``language``."""
    method: str = ""
    """The method that it trains with unless it says otherwise."""
    prefixes: tuple[str, ...] = ()
    """Prefixes that a sink puts before every raw name (``train/`` in TensorBoard); taken off before looking up."""
    beside: Mapping[str, str] = {}
    """Raw name -> our name it takes where another raw name has taken its own: a filtered reward beside that of all samples."""
    affine: Mapping[str, tuple[float, float]] = {}
    """Raw name -> (scale, offset) that turn the framework's number into ours: (-1, 0) where the sign differs."""
    step: str = "updates"
    """What the step axis counts: updates, iterations, env steps, episodes."""
    notes: Mapping[str, str] = {}
    """Our name -> what is special here: the KL estimator, a window, a proxy."""
    trailing: Mapping[str, int] = {}
    """Raw name -> the number of past episodes that each value is the mean of."""
    rollouts: Mapping[str, str] = {}
    """Column of a rollout dump -> our column (prompt, response, reward, advantage, group, step, ...)."""
    config: Mapping[str, str] = {}
    """Key of the framework's configuration -> our key (planned_steps, learning_rate, kl_coef, ...)."""
    switches: Mapping[str, str] = {}
    """What an experiment may turn (see ``judgement/settings_to_change.py``) -> how this framework spells it, value and all."""


@cache
def _english() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """What is called otherwise in other languages, as a pattern, and the English word for each."""
    known = {theirs: ours for ours, names in table(__file__, "english.toml").items() for theirs in names}
    longest = sorted(known, key=lambda name: -len(name))
    plain, wide = ("|".join(name for name in longest if (name > "\u2e80") is far) for far in (False, True))
    return re.compile(rf"\b(?:{plain})\b|{wide}"), known


@lru_cache(maxsize=1 << 15)
def words(raw: str) -> str:
    """The words of a raw name in English, in lower case, with single spaces between."""
    pattern, known = _english()
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", raw).lower()
    return re.sub(r"[^a-z0-9]+", " ", pattern.sub(lambda word: f" {known[word[0]]} ", split)).strip()
