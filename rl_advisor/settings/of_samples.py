"""What may be asked of a measure of the sampled text: how it changed, whether it is paid for, how common it is."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.run import Floats, Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.reward_check import one_for_all, rank_correlation, same_text, upside_down
from rl_advisor.samples.rows import Frame, reference_columns
from rl_advisor.samples.text_change import dependence, judged_worse, paid, shift, shift_or_none, wilson, word_order_lost

SAMPLES, MANY = "samples/", 50
"""Prefix of the measures of sampled text, and how many values say what is usual among them."""
GROWTH, LARGELY, PAID = 1.25, 0.5, 0.3
"""Growth from which a count is inflated, the share of the reward's gain that it must explain, and how surely the reward must follow it."""
SHOWN = 0.05
"""How much answers must have told their prompt at first for a share of that to mean anything."""
ENOUGH = 16
"""Responses of either reward that tell how their lengths went."""


def stretches_or_none(run: Run) -> Stretches | None:
    """The first and the latest samples; None where there are too few."""
    try:
        return stretches(run) if len(run.rollouts) else None
    except TooFewPoints:
        return None


def of_samples(run: Run, statistic: str, column: str) -> float | None:
    """The statistic of a column of the samples; None where it cannot be told."""
    s = stretches_or_none(run)
    try:
        return OF_SAMPLES[statistic](s, column) if s is not None and column in s.table and statistic in OF_SAMPLES else None
    except TooFewPoints:
        return None


def _outlying(x: Floats) -> float:
    """How many times the spread of most values the farthest lies away from their middle."""
    low, high = np.quantile(x, [0.05, 0.95]) if x.size >= MANY else (0.0, np.inf)
    nonzero = np.abs(x[x != 0])
    return float(np.abs(x - np.median(x)).max() / max(high - low, float(np.median(nonzero)) if nonzero.size else 1.0)) if x.size else 0.0


def _paid_growth(s: Stretches, column: str) -> float | None:
    """The share of the reward's gain that a count's growth explains, where the reward follows it; 0 where it does not.

    It must be paid for above the start's middle level too: a model that learns to finish its answers gains by length only up to there.
    """
    grew, gain, pay = shift(s, column), shift(s, "reward"), paid(s.table, column)
    more = paid(s.table.loc[s.table[column] > s.first[column].median(), [column, "reward", "cluster"]], column)
    sure = grew.up and grew.latest >= GROWTH * grew.first and gain.up and pay and pay.low >= PAID and more and more.low > 0
    share = pay.slope * grew.delta / gain.delta if pay and sure else 0.0
    return share if share >= LARGELY else 0.0


def _wrong_grows(s: Stretches, column: str) -> float | None:
    """By how much a count surely grew in the worse of two rewards, where it grew by a quarter and not in the better one."""
    every = (s.first, s.latest, s.table)
    values = np.unique(s.table["reward"].dropna())
    parts = [Stretches(*(p.loc[p["reward"] == v, [column, "cluster"]] for p in every)) for v in values] if values.size == 2 else []
    if not parts or min(len(x) for p in parts for x in (p.first, p.latest)) < ENOUGH:
        return None
    wrong, right = (shift(part, column) for part in parts)
    return wrong.low if wrong.latest > GROWTH * wrong.first and right.latest < 1.1 * right.first else 0.0


def _one_for_all(s: Stretches) -> float:
    """By how much more of the well paid responses than at first surely give one wrong answer to different questions."""
    middle = float(s.table["reward"].min() + s.table["reward"].max()) / 2
    (before, of), (count, now) = (one_for_all(part, middle) for part in (s.first, s.latest))
    return wilson(count, now)[0] - wilson(before, of)[1]


def _common(part: Frame, column: str, end: int) -> float:
    """An end of the interval of the share of responses that have something."""
    return wilson(int((part[column] > 0).sum()), len(part))[end]


def _advantage(s: Stretches, column: str) -> float:
    """What those that have it earn beyond the others of the latest samples; beyond the first where nearly all have it."""
    has = s.latest[column] > 0
    others = s.latest.loc[~has, "reward"] if (~has).sum() >= 8 else s.first["reward"]
    return float(s.latest.loc[has, "reward"].mean() - others.mean())


@lru_cache(maxsize=2)
def _of_table(look: Callable[[Frame], Mapping[str, float]], s: Stretches) -> Mapping[str, float]:
    return look(s.table)


@lru_cache(maxsize=2)
def _followed(s: Stretches) -> tuple[float, float, float, int]:
    """The judgement beside the samples that the reward follows least in the second half: rank correlation, its interval, and how many."""
    half = s.table[s.table["step"] >= s.table["step"].median()]
    told = [rank_correlation(half, name) for name in reference_columns(s.table)]
    return min(((rho, low, high, n) for rho, low, high, n in told if rho is not None), default=(0.0, -1.0, 1.0, 0))


def _distinct(part: Frame) -> float:
    return float(part["response"].nunique() / max(1, np.isfinite(part["step"]).sum()))


OF_SAMPLES: Mapping[str, Callable[[Stretches, str], float | None]] = {
    "first": lambda s, column: shift(s, column).first,
    "latest": lambda s, column: shift(s, column).latest,
    "more": lambda s, column: shift(s, column).delta,
    "grown": lambda s, column: shift(s, column).low,
    "shrunk": lambda s, column: -shift(s, column).high,
    "top": lambda s, column: float(s.table[column].max()),
    "range": lambda s, column: float(np.ptp(s.table[column].dropna().to_numpy(np.float64))),
    "outlying": lambda s, column: _outlying(s.table[column].dropna().to_numpy(np.float64)),
    "paid": lambda s, column: found.low if (found := paid(s.table, column)) else None,
    "docked": lambda s, column: -found.high if (found := paid(s.table, column)) else None,
    "paid_growth": _paid_growth,
    "wrong_grows": _wrong_grows,
    "common": lambda s, column: _common(s.latest, column, 0),
    "seldom": lambda s, column: _common(s.latest, column, 1),
    "spreads": lambda s, column: _common(s.latest, column, 0) - _common(s.first, column, 1),
    "advantage": _advantage,
    "earns": lambda s, column: float(s.latest.loc[s.latest[column] > 0, "reward"].mean()),
    "left": lambda s, _: found[1] if (found := dependence(s)) and found[0] > SHOWN else None,
    "own": lambda s, _: found[0] if (found := dependence(s)) else None,
    "order_lost": lambda s, _: word_order_lost(s),
    "judged_worse": lambda s, _: judged_worse(s),
    "judged_better": lambda s, _: any((moved := shift_or_none(s, name)) is not None and moved.up for name in reference_columns(s.table)),
    "judges": lambda s, _: len(reference_columns(s.table)),
    **{k: lambda s, _, i=i: _followed(s)[i] for i, k in enumerate(("agrees", "agrees_low", "agrees_high", "judged"))},  # type: ignore[misc]
    "one_for_all": lambda s, _: _one_for_all(s),
    "state_known": lambda s, _: bool(s.table["task_done"].notna().any()),
    "distinct": lambda s, _: _distinct(s.latest),
    "distinct_first": lambda s, _: _distinct(s.first),
    "distinct_high": lambda s, _: wilson(round(_distinct(s.latest) * len(s.latest)), len(s.latest))[1],
    "frequent": lambda s, column: float(s.latest[column].value_counts().iloc[0] / len(s.latest)),
    **{f"paid_{k}": lambda s, _, k=k: _of_table(upside_down, s)[k] for k in ("wrong", "right", "low", "any")},  # type: ignore[misc]
    **{f"unequal_{k}": lambda s, _, k=k: _of_table(same_text, s).get(k) for k in ("sets", "low", "high", "share_different_reward")},  # type: ignore[misc]
}
"""``grown`` and ``shrunk`` are what it surely gained or lost, ``paid`` how surely the reward follows it among responses to one prompt,
``docked`` how surely it falls with it, ``common`` and ``seldom`` the ends of the interval of the share that has it, ``left`` and ``own``
speak of answers and their prompts."""
