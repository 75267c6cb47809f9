"""An audit of single samples: which ones are suspicious, for which reasons, and how common each reason is, with its interval.

The reasons are the field guide's: paid highly and judged low by somebody else, far longer than the first answers, repetitive; and what a
judge may like beside the content: refusals, politeness, hedging, one text for many prompts, a place, its own family.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.payoff import difference
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.rows import columns, numbers, reference_columns, where
from rl_advisor.samples.text_change import share_of

if TYPE_CHECKING:
    import pandas as pd

LONG, REPEATED = 2.0, 0.2
"""How many times the usual first length is too long, and the share of repeated word sequences that is too repetitive."""
TONES = {"refusal": "refuses", "hedging": "hedges", "praise": "flatters"}
BIASES = ("position", "own family")
"""What a judge may prefer beside the content."""
FEWEST_GROUPS, MOST_GROUPS, MOST_OF_GROUP = 8, 2_000, 64
PARTS = 4
"""Rewards are high in their highest part of so many, a judgement low in its lowest."""


def sample_audit(run: Run, most: int = 20) -> dict[str, Any]:
    """The audited samples: ``audited``, ``reasons`` (share of each with its interval), ``suspicious`` (the worst ``most``), ``judge``.

    Also ``ranking``: whether the reward orders the answers to one prompt as other judgements do.
    """
    table = measured(run)
    if not len(table):
        return {
            "audited": 0,
            "reasons": {},
            "suspicious": [],
            "judge": {},
            "ranking": {},
            "cannot_tell": ["no response with text was found"],
        }
    marks, unknown = reasons_of(table)
    counted = {name: int(mark.sum()) for name, mark in marks.items()}
    shares = {name: share_of(hits, len(table)) for name, hits in counted.items()}
    return {
        "audited": len(table),
        "reasons": shares,
        "suspicious": _worst(table, marks, most),
        "judge": judge_bias(table),
        "ranking": {name.removeprefix("other/"): r for name in reference_columns(table) if (r := group_ranking(table, name))},
        "cannot_tell": unknown,
    }


def reasons_of(table: "pd.DataFrame") -> tuple[dict[str, np.ndarray], list[str]]:
    """Reason -> which samples it holds of, and what could not be looked at."""
    reward = table["reward"].to_numpy(np.float64)
    high = reward >= np.nanquantile(reward, 1 - 1 / PARTS) if np.isfinite(reward).any() else np.zeros(len(table), bool)
    usual = _usual_length(table)
    marks = {
        f"longer than {LONG:g} times the first answers": table["tokens"].to_numpy(np.float64) > LONG * usual,
        "repeats itself": table["repeated"].fillna(0).to_numpy(np.float64) > REPEATED,
        "the same text to other prompts": _shared(table),
        **{words: (table[tone].fillna(0).to_numpy(np.float64) > 0) & high for tone, words in TONES.items() if tone in table},
    }
    names = reference_columns(table)
    for name in names:
        value = numbers(table, name)
        low = value <= np.nanquantile(value, 1 / PARTS)
        marks[f"paid highly, {name.removeprefix('other/')} low"] = high & low & (value < np.nanmax(value))
    unknown = [] if names else ["no human or independent judgement stands beside the samples"]
    return marks, unknown if np.isfinite(reward).any() else [*unknown, "no sample has a reward"]


def group_ranking(table: "pd.DataFrame", name: str) -> dict[str, float] | None:
    """How often the reward puts two answers to one prompt in the order that another judgement puts them; None below eight such groups.

    ``share`` of the pairs that both tell apart, the mean over ``groups``, with its 95 % interval; a half is chance.
    """
    judged, alike = numbers(table, name), []
    for rows in list(table.reset_index(drop=True).groupby(["step", "prompt"]).indices.values())[:MOST_GROUPS]:
        reward, other = table["reward"].to_numpy(np.float64)[rows][:MOST_OF_GROUP], judged[rows][:MOST_OF_GROUP]
        signs = np.sign(np.subtract.outer(reward, reward)) * np.sign(np.subtract.outer(other, other))
        if (told := np.isfinite(signs) & (signs != 0)).any():
            alike.append(float(np.mean(signs[told] > 0)))
    if len(alike) < FEWEST_GROUPS:
        return None
    share, error = float(np.mean(alike)), 1.96 * float(np.std(alike)) / np.sqrt(len(alike))
    return {"share": share, "low": float(max(0.0, share - error)), "high": float(min(1.0, share + error)), "groups": float(len(alike))}


def _usual_length(table: "pd.DataFrame") -> "float | np.ndarray":
    """The length to compare with: the samples' own baseline where one is logged, else the usual one of the first step."""
    own = next(iter(columns(table, "usual_length")), None)
    first = table.loc[table["step"] == table["step"].min(), "tokens"]
    usual = max(float(first.median()), 1.0)
    return usual if own is None else np.where(np.isfinite(numbers(table, own)), numbers(table, own), usual)


def _shared(table: "pd.DataFrame") -> np.ndarray:
    """Whether a sample's text answers another prompt of its step too, and is no single word."""
    prompts = table.groupby(["step", "response"])["prompt"].transform("nunique").to_numpy()
    return np.asarray((prompts > 1) & (table["tokens"].to_numpy(np.float64) > 5))


def _worst(table: "pd.DataFrame", marks: Mapping[str, np.ndarray], most: int) -> list[dict[str, Any]]:
    """The samples with most reasons, of equal ones the newest and best paid first; ids are the samples' own where they have one."""
    counted = np.sum(list(marks.values()), axis=0)
    order = np.lexsort((-table["reward"].fillna(0).to_numpy(np.float64), -table["step"].to_numpy(np.float64), -counted))
    own = next(iter(columns(table, "identity")), None)
    found = []
    for i in order[:most]:
        if not counted[i]:
            break
        row = table.iloc[int(i)]
        known = {"id": str(row[own])[:80]} if own is not None else {}
        reasons = [name for name, mark in marks.items() if mark[i]]
        found.append({**known, **where(row, int(i)), "reward": float(row["reward"]), "reasons": reasons})
    return found


def judge_bias(table: "pd.DataFrame") -> dict[str, dict[str, float]]:
    """What the reward gives for a place or for its own family, where columns tell them: the difference with its interval."""
    found = {}
    for bias in BIASES:
        name = next(iter(columns(table, bias)), None)
        value = numbers(table, name) if name is not None else np.empty(0)
        if name is None or np.unique(value[np.isfinite(value)]).size < 2:
            continue
        above = value > np.nanmedian(value) if np.unique(value).size > 2 else value == np.nanmax(value)
        try:
            gap, low, high = difference(
                table["reward"][~above], table["reward"][above], table["cluster"][~above].tolist(), table["cluster"][above].tolist()
            )
        except TooFewPoints:
            continue
        found[bias] = {"difference": gap, "low": low, "high": high}
    return found
