"""An audit of single samples: which ones are suspicious, for which reasons, and how common each reason is, with its interval.

The reasons are the field guide's: paid highly and judged low by somebody else, far longer than the first answers, repetitive; and what a
judge may like beside the content: refusals, politeness, hedging, one text for many prompts, a place, its own family.
"""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.payoff import difference
from rl_advisor.output import Answer
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.person import PARTS, same_order
from rl_advisor.samples.rows import Frame, columns, numbers, reference_columns, where
from rl_advisor.samples.text_change import share_of

LONG, REPEATED = 2.0, 0.2
"""How many times the usual first length is too long, and the share of repeated word sequences that is too repetitive."""
TONES = {"refusal": "refuses", "hedging": "hedges", "praise": "flatters"}
BIASES = ("position", "own family")
"""What a judge may prefer beside the content."""
FEWEST_GROUPS, MOST_GROUPS, MOST_OF_GROUP = 8, 2_000, 64


def sample_audit(run: Run, most: int = 20) -> Answer:
    """The audited samples: ``audited``, ``reasons`` (share of each with its interval), ``suspicious`` (the worst ``most``), ``judge``.

    Also ``ranking``: whether the reward orders the answers to one prompt as other judgements do.
    """
    table = measured(run)
    found: Answer = {"audited": len(table), "reasons": {}, "suspicious": [], "judge": {}, "ranking": {}}
    if not len(table):
        return found | {"cannot_tell": ["no response with text was found"]}
    marks, unknown = reasons_of(table)
    return found | {
        "reasons": {name: share_of(int(mark.sum()), len(table)) for name, mark in marks.items()},
        "suspicious": _worst(table, marks, most),
        "judge": judge_bias(table),
        "ranking": {name.removeprefix("other/"): r for name in reference_columns(table) if (r := group_ranking(table, name))},
        "cannot_tell": unknown,
    }


def reasons_of(table: Frame) -> tuple[dict[str, np.ndarray], list[str]]:
    """Reason -> which samples it holds of, and what could not be looked at."""
    reward = numbers(table, "reward")
    high = reward >= np.nanquantile(reward, 1 - 1 / PARTS) if np.isfinite(reward).any() else np.zeros(len(table), bool)
    first = table.loc[table["step"] == table["step"].min(), "tokens"]
    usual = max(float(first.median()), 1.0)
    own = next((np.nan_to_num(numbers(table, name), nan=usual) for name in columns(table, "usual_length")), usual)
    prompts = table.groupby(["step", "response"])["prompt"].transform("nunique").to_numpy()
    marks = {
        f"longer than {LONG:g} times the first answers": numbers(table, "tokens") > LONG * own,
        "repeats itself": numbers(table, "repeated") > REPEATED,
        # No single word, which answers many prompts.
        "the same text to other prompts": (prompts > 1) & (numbers(table, "tokens") > 5),
        **{words: (numbers(table, tone) > 0) & high for tone, words in TONES.items() if tone in table},
    }
    names = reference_columns(table)
    for name in names:
        value = numbers(table, name)
        low = value <= np.nanquantile(value, 1 / PARTS)
        marks[f"paid highly, {name.removeprefix('other/')} low"] = high & low & (value < np.nanmax(value))
    unknown = [] if names else ["no human or independent judgement stands beside the samples"]
    return marks, unknown if np.isfinite(reward).any() else [*unknown, "no sample has a reward"]


def group_ranking(table: Frame, name: str) -> dict[str, float] | None:
    """How often the reward puts two answers to one prompt in the order that another judgement puts them; None below eight such groups.

    ``share`` of the pairs that both tell apart, the mean over ``groups``, with its 95 % interval; a half is chance.
    """
    alike = []
    for _, group in list(table.assign(judged=numbers(table, name)).groupby(["step", "prompt"]))[:MOST_GROUPS]:
        reward, judged = (numbers(group, column)[:MOST_OF_GROUP] for column in ("reward", "judged"))
        if (told := same_order(reward, judged)).size:
            alike.append(told.mean())
    if len(alike) < FEWEST_GROUPS:
        return None
    share, error = float(np.mean(alike)), 1.96 * float(np.std(alike)) / np.sqrt(len(alike))
    return {"share": share, "low": float(max(0.0, share - error)), "high": float(min(1.0, share + error)), "groups": float(len(alike))}


def _worst(table: Frame, marks: Mapping[str, np.ndarray], most: int) -> list[Answer]:
    """The samples with most reasons, of equal ones the newest and best paid first; ids are the samples' own where they have one."""
    counted = table.assign(reasons=np.sum(list(marks.values()), axis=0), place=np.arange(len(table)))
    worst = counted[counted["reasons"] > 0].sort_values(["reasons", "step", "reward"], ascending=False, kind="stable").head(most)
    ids = columns(table, "identity")[:1]
    return [
        {
            **({"id": str(row[ids[0]])[:80]} if ids else {}),
            **where(row, row["place"]),
            "reward": float(row["reward"]),
            "reasons": [name for name, mark in marks.items() if mark[row["place"]]],
        }
        for row in worst.to_dict("records")
    ]


def judge_bias(table: Frame) -> dict[str, dict[str, float]]:
    """What the reward gives for a place or for its own family, where columns tell them: the difference with its interval."""
    found = {}
    for bias, name in {kind: name for kind in BIASES for name in columns(table, kind)[:1]}.items():
        value = numbers(table, name)
        kinds = np.unique(value[np.isfinite(value)])
        above = table[value > (kinds.mean() if kinds.size else 0)]
        rest = table.drop(above.index)
        with suppress(TooFewPoints):
            gap, low, high = difference(rest["reward"], above["reward"], rest["cluster"].tolist(), above["cluster"].tolist())
            found[bias] = {"difference": gap, "low": low, "high": high}
    return found
