"""The responses of a run with their text measured, and the two stretches that are compared: the run's own first samples and its latest."""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.endings import is_open, pile_up
from rl_advisor.features.text.language import other_language_share
from rl_advisor.features.text.measures import (
    CHARS,
    bounded,
    copied_share,
    distinct_share,
    empty_fields,
    foreign_share,
    is_empty,
    repeated_fields,
    single_answer,
    words,
)
from rl_advisor.features.text.phrases import CLAIM, HEDGING, PRAISE, REFUSAL, VERIFIER_ATTACK, claims_after_failure, tool_calls
from rl_advisor.features.text.repetition import again, identical_run, repeated_share, tail_loop, variety
from rl_advisor.features.text.telling_words import word_order
from rl_advisor.features.text.turns import spoken
from rl_advisor.run import Floats, Run
from rl_advisor.samples.rows import Frame, columns, numbers, of_samples, spread, training

PER_STEP = 128
"""Responses of a step whose text is measured, whole groups first come."""
STEPS = 48
"""Steps whose text is measured, evenly spread, the first and last among them."""
WINDOW = 96
"""Responses that a stretch should have at least."""
BUDGET = 2_000_000
"""Characters measured in all, roughly: fewer responses a step where they are long."""
_FEW_WORDS = 50
"""A response of fewer words counts as one of so many, so that a single phrase in it is not the whole of it."""
_PROSE = 4_000
"""Characters of a text whose language is looked at."""
_FEWEST = 16
_FEWEST_STEPS = 12
_asked = lru_cache(maxsize=8)(words)
"""The words of a prompt, which many responses answer."""


@dataclass(frozen=True, eq=False)
class Stretches:
    """The first and the latest measured samples of a run, each one or more steps."""

    first: Frame
    latest: Frame
    table: Frame


@of_samples
def measured(run: Run) -> Frame:
    """The training responses with one column a text measure; at most STEPS steps and PER_STEP responses of each. Empty without any text."""
    return _with_cuts(_measure(_chosen(training(run))), run)


@of_samples
def stretches(run: Run) -> Stretches:
    """First and latest samples, of at least WINDOW responses each where there are as many. Raises TooFewPoints for a single step."""
    table = measured(run)
    steps = np.unique(table["step"]) if len(table) else np.empty(0)
    if steps.size < 2:
        raise TooFewPoints(f"samples of {steps.size} steps, 2 needed to compare")
    half = steps.size // 2
    first, latest = _enough(table, steps[:half]), _enough(table, steps[::-1][:half])
    if min(len(first), len(latest)) < _FEWEST:
        raise TooFewPoints(f"{min(len(first), len(latest))} responses in a stretch, {_FEWEST} needed")
    # Fields more often than twice what the first responses have in the middle.
    table = table.assign(repeated_field=(table["fields"] > 2 * max(1.0, first["fields"].median())).astype(np.float64))
    return Stretches(table.loc[first.index], table.loc[latest.index], table)


def _enough(table: Frame, steps: Floats) -> Frame:
    """The rows of the first of the steps that hold WINDOW responses together."""
    held = table.groupby("step").size()
    before = np.cumsum([int(held[step]) for step in steps]) < WINDOW
    return table[table["step"].isin(steps[: int(before.sum()) + 1])]


def _chosen(rows: Frame) -> Frame:
    """The responses that are measured: fewer of a step, and of fewer steps, where they are long."""
    rows = rows[rows["sampled"].astype(bool)] if "sampled" in rows else rows
    if not len(rows):
        return rows
    affordable = BUDGET / max(rows["response"].str.len().clip(upper=CHARS).mean(), 1.0)
    steps = int(np.clip(affordable / _FEWEST, _FEWEST_STEPS, STEPS))
    each = int(np.clip(affordable / min(steps, rows["step"].nunique()), _FEWEST, PER_STEP))
    return spread(rows, steps, each).sort_values("step", kind="stable").reset_index(drop=True)


def _measure(rows: Frame) -> Frame:
    import pandas as pd

    if not len(rows):
        return rows
    pairs = list(zip(rows["prompt"].tolist(), rows["response"].tolist(), strict=True))
    seen = {pair: _of_one(*pair) for pair in dict.fromkeys(pairs)}
    names = next(iter(seen.values()))
    measures = pd.DataFrame({name: [seen[pair][name] for pair in pairs] for name in names}, index=rows.index)
    if "tool_calls" in rows:
        measures["calls"] = measures["calls"].where(measures["calls"] > 0, rows["tool_calls"])
    measures["tokens"] = rows["length"].astype(np.float64) if "length" in rows else measures["words"]
    table = rows.assign(cluster=rows["step"].astype(str) + "/" + rows["group"].astype(str))
    table["distinct"] = table["cluster"].map(table.groupby("cluster")["response"].agg(list).map(distinct_share))
    known = (numbers(rows, name) for name in columns(rows, "succeeded"))
    done = next((x for x in known if np.isfinite(x).any() and np.nanmin(x) >= 0 and np.nanmax(x) <= 1), np.full(len(rows), np.nan))
    # Claims of success against the column that holds it, or after a failure that the text shows.
    false = ((measures["claim"] > 0) & (done < 0.5)) | (measures["claim_after_failure"] > 0)
    return pd.concat([table, measures.assign(task_done=done, false_claim=false.astype(np.float64))], axis=1)


def _with_cuts(table: Frame, run: Run) -> Frame:
    """The table with a ``truncated`` column where nothing logs truncation but lengths pile up at a cap."""
    logged = "response/truncated" in run.curves or ("truncated" in table and table["truncated"].notna().any())
    if logged or not len(table):
        return table
    different = table.drop_duplicates("response")
    told = run.settings.get("max_response_length")
    limit = float(told) if isinstance(told, (int, float)) else None
    cap = pile_up(numbers(different, "tokens"), numbers(different, "open") > 0, limit)
    return table if cap is None else table.assign(truncated=(table["tokens"] == cap).astype(np.float64), length_cap=cap)


def _of_one(prompt: str, response: str) -> dict[str, float | str]:
    calls = [(call.lower(), failed) for call, failed in tool_calls(response)]
    made = [call for call, _ in calls]
    claimed, attack = claims_after_failure(response), VERIFIER_ATTACK.search(response)
    response = spoken(response)
    tokens, asked = words(response), _asked(prompt)
    count = max(len(tokens), _FEW_WORDS)
    found = {
        "words": len(tokens),
        "loop": tail_loop(response) > 0,
        "repeated": repeated_share(tokens),
        "variety": variety(tokens),
        "empty": is_empty(response),
        "copied": copied_share(asked, tokens),
        "foreign": foreign_share(prompt, response),
        "other_language": other_language_share(bounded(prompt, _PROSE), bounded(response, _PROSE)),
        "open": is_open(response),
        "fields": repeated_fields(response),
        "empty_field": empty_fields(response),
        "refusal": bool(REFUSAL.search(response)),
        "hedging": 100 * len(HEDGING.findall(response)) / count,
        "praise": 100 * len(PRAISE.findall(response)) / count,
        "claim": bool(CLAIM.search(response[-400:])),
        "claim_after_failure": claimed,
        "attack": bool(attack),
        "calls": len(calls),
        "identical_calls": identical_run(made),
        "three_calls_alike": identical_run(made) > 2,
        "repeated_calls": again(made),
        "failed_calls": sum(failed for _, failed in calls) / len(calls) if calls else np.nan,
        "no_call_worked": all(failed for _, failed in calls) if calls else np.nan,
        "error_retries": sum(a == (b[0], True) for a, b in pairwise(calls)),
        "new_words": len(set(tokens) - set(asked)) / len(tokens) if tokens else np.nan,
    }
    return {"ends_in": single_answer(response), **{name: float(x) for name, x in found.items()}}


def word_order_of(stretch: Frame) -> Floats:
    """How much word order each response of a stretch shares with the stretch's other responses; NaN for very short ones.

    Half of the groups scores the other half, so a new style counts as well as the old one, and only a salad of words scores low. Raises
    TooFewPoints when a half has too few words.
    """
    half = np.array([zlib.crc32(str(c).encode()) % 2 for c in stretch["cluster"]])
    answers = stretch["response"].tolist()
    scores = [word_order([a for a, h in zip(answers, half, strict=True) if h == side]) for side in (1, 0)]
    return np.array([scores[h](a) for a, h in zip(answers, half, strict=True)])
