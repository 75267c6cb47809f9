"""What the reward pays for, as a short formula of what can be measured in the responses, and whether right and wrong are paid apart."""

import re
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.features.sparse import FEWEST, Formula, Term, formula, least_squares
from rl_advisor.features.text.behaviour import behaviour, calls_by_tool
from rl_advisor.features.text.measures import final_answer, words
from rl_advisor.features.text.phrases import phrases
from rl_advisor.output import Answer
from rl_advisor.run import Floats, Run
from rl_advisor.samples.episodes import turns_of
from rl_advisor.samples.measured_text import measured
from rl_advisor.samples.rows import Frame, numbers, of_samples, right_answers, right_or_wrong, where
from rl_advisor.samples.same_answers import marks, same_answer

ROWS, WORDS = 3_000, 60
"""Responses that are fitted, and words that are tried."""
HOLDS, PARTLY = 0.8, 0.5
"""Shares of the variance, on prompts that were not fitted, from which a formula is said to hold, and to hold in part.

Of a reward of two values it only holds in part where nobody says what is right: whatever all right answers have in common tells them."""
_INSIDE = 0.25
"""Least of that share inside groups: less, and the reward and the measure merely moved together over the run."""
_HUGE = 1e100
"""Rewards of this size are no rewards, and their squares are no numbers."""
_SURE = 6.0
"""Standard errors from which a word has a price of its own."""
_PARTS = 4
"""Parts of a reward that are looked at."""
TASK = "being right"
_HELD = table(__file__, "reward_formula.toml")
_COUNTED = {
    name: phrases(pattern, _HELD["marks"].get(name, ""), re.IGNORECASE | re.MULTILINE) for name, pattern in _HELD["counted"].items()
}
_KINDS = {"each": "{0}", "above": "more than {1} {0}", "up to": "{0} (up to {1})"}
_NAME = re.compile(r"[\w.\-]{1,40}")


@of_samples
def paid_for(run: Run) -> Answer:
    """The formula of the reward where one holds, what being right earns, and pairs of one prompt that are paid alike or upside down.

    ``terms`` (what, weight, its interval), ``r2`` on prompts that were not fitted, ``r2_within`` groups, ``exceptions``,
    ``beside_the_task``; empty where rewards are too few, and without terms where no short formula foretells them.
    """
    table = measured(run)
    rows = table[table["reward"].abs() < _HUGE] if len(table) else table
    rows = rows.iloc[:: 1 + len(rows) // ROWS].reset_index(drop=True)
    if not len(rows):
        return {}
    # Half of the prompts is fitted; half of the rows where there are too few prompts.
    keys = rows["prompt"].astype(str) if rows["prompt"].nunique() >= 8 else rows.index.astype(str)
    half = np.array([zlib.crc32(key.encode()) % 2 == 0 for key in keys])
    if len(rows) < FEWEST or not 0 < half.mean() < 1:
        return {}
    right = right_or_wrong(rows)
    right = _matched(rows) if right is None else right
    if right is not None and np.array_equal(right, numbers(rows, "reward")):
        return {}  # the reward is the task
    measures = _measures(rows, right, half)
    try:
        found = _formula_of("reward", rows, measures, half)
    except TooFewPoints:
        return {}
    answer: Answer = {"episodes": len(rows)} | (_right_against_wrong(rows, right) if right is not None else {})
    if found.r2 < HOLDS and (parts := _of_parts(rows, measures, half)):
        answer["parts"] = parts
    return answer | _told(rows, measures, found) if found.r2 >= PARTLY else answer


def _formula_of(column: str, rows: Frame, measures: dict[str, Floats], half: np.ndarray) -> Formula:
    """The formula of a column; one that merely moved together with it over the run explains nothing."""
    found = formula(measures, numbers(rows, column), half, rows["cluster"].tolist())
    return replace(found, r2=0.0) if found.r2_within < _INSIDE * found.r2 else found


def _of_parts(rows: Frame, measures: dict[str, Floats], half: np.ndarray) -> Answer:
    """The formula of each logged part of the reward that has one, where the whole has none."""
    found = {}
    for name in [c for c in map(str, rows.columns) if c.startswith("reward/") and np.isfinite(numbers(rows, c)).all()][:_PARTS]:
        with suppress(TooFewPoints):
            of = _formula_of(name, rows, measures, half)
            if of.r2 >= HOLDS:
                found[name.removeprefix("reward/")] = {"terms": [_term(t) for t in of.terms], "constant": of.constant, "r2": of.r2}
    return found


def _matched(rows: Frame) -> Floats | None:
    """Whether each response ends in the right answer, where a column holds it; None without one, or where hardly any or all do."""
    gold = right_answers(rows)
    if gold is None:
        return None
    right = np.array([float(same_answer(final_answer(text), answer)) for text, answer in zip(rows["response"], gold, strict=True)])
    return right if 0.01 < right.mean() < 0.99 else None


def _told(rows: Frame, measures: dict[str, Floats], found: Formula) -> Answer:
    """The formula in words and numbers, with the rows that show it best and those that contradict it."""
    reward, off = numbers(rows, "reward"), np.abs(found.rest)
    brings = {t: t.weight * t.values(measures) for t in found.terms}
    beside = [t for t in found.terms if TASK not in {link.measure for link in t.chain}]
    worst = [i for i in np.argsort(-off, kind="stable")[:2].tolist() if off[i] > 0.1 * np.ptp(reward)]
    return {
        # a term's share of the reward's spread is its covariance with the reward over the reward's variance
        "terms": [_term(t) | {"share": float(np.cov(x, reward, bias=True)[0, 1] / reward.var())} for t, x in brings.items()],
        "constant": found.constant,
        "r2": found.r2,
        "r2_within": None if np.isnan(found.r2_within) else found.r2_within,
        "holds": found.r2 >= HOLDS and (TASK in measures or np.unique(reward.round(9)).size > 2),
        "beside_the_task": [_named(t) for t in beside],
        "task_known": TASK in measures,
        "shown": [_row(rows, int(np.argmax(brings[t]))) for t in beside[:1]],
        "exceptions": [_row(rows, i) for i in worst],
    }


def _term(term: Term) -> Answer:
    limits = [t.limit for t in term.chain if t.kind != "each"]
    return {"what": _named(term), "weight": term.weight, "low": term.low, "high": term.high, "limits": limits}


def _named(term: Term) -> str:
    """A term in words."""
    return " where ".join(_KINDS[t.kind].format(t.measure, f"{t.limit:.4g}") for t in term.chain)


def _row(rows: Frame, i: int) -> Answer:
    row = rows.iloc[i]
    return {**where(row, i), "reward": float(row["reward"]), "text": str(row["response"])[:300]}


def _measures(rows: Frame, right: np.ndarray | None, half: np.ndarray) -> dict[str, Floats]:
    """Everything that is tried: counts of the text, marks, words, behaviour, and being right where that is known."""
    import pandas as pd

    which = np.arange(len(rows)) if "turns" in rows else pd.factorize(rows["response"])[0]  # many say the same
    turns = turns_of(rows.iloc[np.unique(which, return_index=True)[1]])
    said = ["\n".join(t.text for t in some if t.role == "assistant") for some in turns]
    of_each: Answer = {"words": [len(t.split()) for t in said], "characters": [*map(len, said)]}
    of_each |= {name: [len(pattern.findall(text)) for text in said] for name, pattern in _COUNTED.items()}
    did, own = [behaviour(some) for some in turns], [said[i] for i in which]
    of_each |= {name.replace("_", " "): [d[name] for d in did] for name in ("turns", "tool_calls", "corrections", "thinking")}
    found: Answer = {name: np.array(x)[which] for name, x in of_each.items()}
    found |= {name: numbers(rows, column) for column, name in _HELD["measured"].items() if column in rows}
    found |= {f"calls of {name}": used for name, used in calls_by_tool([turns[i] for i in which], 8).items() if _NAME.fullmatch(name)}
    found |= _of_marks(own) | _of_words(own, numbers(rows, "reward"), half)
    found |= {TASK: right} if right is not None and np.isfinite(right).all() else {}
    table = {name: np.asarray(x, np.float64) for name, x in found.items()}
    known = {name: np.isfinite(x) for name, x in table.items()}
    return {name: np.where(known[name], x, 0.0) for name, x in table.items() if name == TASK or known[name].mean() > 0.9}


def _of_marks(texts: list[str]) -> dict[str, list[bool]]:
    held = [marks(text) for text in texts]
    common = Counter(m for some in held for m in some)
    return {f"a filled {m}": [m in some for some in held] for m, n in common.most_common(12) if n < len(texts)}


def _of_words(texts: list[str], reward: Floats, half: np.ndarray) -> dict[str, Floats]:
    """How often each of the words occurs that go with the reward on the half that is fitted, and those that are paid alike as one.

    These are the words of nearly one price when all of them are fitted together on the half.
    """
    counted = [Counter(words(text)) for text in texts]
    spread = Counter(w for some in counted for w in some)
    names = [w for w, n in spread.most_common(2_000) if 0.02 * len(texts) <= n <= 0.98 * len(texts) and w.isalpha()]
    centred = reward[half] - reward[half].mean()
    table = {w: np.array([some[w] for some in counted], np.float64) for w in names[:600]}
    best = sorted(table, key=lambda w: -abs(table[w][half] @ centred) / (table[w][half].std() + 1e-9))[:WORDS]
    found = {f'times "{w[:40]}"': table[w] for w in best}
    if half.sum() < 3 * len(best):
        return found
    weights, errors, _ = least_squares([table[w][half] for w in best], reward[half])
    sure = {w: b for w, b, e in zip(best, weights[1:], errors[1:], strict=True) if b > _SURE * (e + 1e-12)}
    price = np.median([*sure.values()]) if sure else 0.0
    alike = [w for w, b in sure.items() if abs(b - price) <= 0.3 * price]
    return found | ({f"times {', '.join(alike[:6])}": np.sum([table[w] for w in alike], axis=0)} if len(alike) > 1 else {})


def _right_against_wrong(rows: Frame, right: np.ndarray) -> Answer:
    """Pairs of a right and a wrong response to one prompt: how many are paid alike, how many upside down, and one of each."""
    import pandas as pd

    reward = rows["reward"]
    good, bad = (reward[side].groupby(rows["cluster"]) for side in (right > 0.5, right < 0.5))
    pairs = pd.DataFrame({"right": good.idxmin(), "wrong": bad.idxmax()}).dropna().astype(int)
    if not len(pairs):
        return {}
    gap = reward[pairs["wrong"]].to_numpy() - reward[pairs["right"]].to_numpy()
    found: Answer = {"prompts": len(pairs), "alike": int((np.abs(gap) <= 1e-9).sum()), "upside_down": int((gap > 1e-9).sum())}
    if gap.max() >= -1e-9:
        worst = pairs.iloc[int(gap.argmax())]
        found["pair"] = {"gap": float(gap.max()), **{side: _row(rows, int(worst[side])) for side in ("right", "wrong")}}
    return {"right_and_wrong": found}
