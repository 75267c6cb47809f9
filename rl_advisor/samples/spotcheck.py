"""What the model actually says: the samples worth reading, and the text statistics of every step."""

from contextlib import suppress

import numpy as np

from rl_advisor.features import TooFewPoints
from rl_advisor.features.text.measures import distinct_share, single_answer
from rl_advisor.features.text.telling_words import telling_words
from rl_advisor.output import Answer
from rl_advisor.run import Run
from rl_advisor.samples.excerpts import shown
from rl_advisor.samples.measured_text import measured, stretches
from rl_advisor.samples.rows import Frame, Series, training, written
from rl_advisor.samples.text_change import MEANINGS, MEASURED

_TELLING, _SURE = 8, 3.0
"""Words that are told of each kind, and the z value from which they are."""


def triad(run: Run, step: int | None = None, count: int = 3, seed: int = 0) -> Answer:
    """The samples to read, each with its provenance.

    ``highest`` and ``lowest`` reward (of the step, else of the whole run), ``random`` of the latest step, ``longest``, ``newest_failures``,
    ``contrast`` (pairs of one group), ``contradicting`` (different answers to one prompt, both paid most) and ``early_late`` (pairs of one
    prompt). The same samples for the same run, step and seed. ``step`` takes the nearest earlier step that has samples. Raises ValueError
    for a step before the first sample or a count below 1.
    """
    if count < 1:
        raise ValueError(f"count must be 1 or more, not {count}")
    rows = training(run)
    rows = rows if len(rows) else written(run.rollouts)
    rows = rows[rows["response"].astype(bool)].reset_index(drop=True) if len(rows) else rows
    if not len(rows):
        nothing = [{"where": "rollouts", "why": "no responses with text were found"}]
        return {"step": None, "highest": [], "lowest": [], "random": [], "gaps": nothing}
    steps = np.unique(rows["step"])
    known = steps if step is None else steps[steps <= step]
    if not known.size:
        raise ValueError(f"no samples at or before step {step}; the first are of step {steps[0]:g}, the last of step {steps[-1]:g}")
    latest = float(known[-1])
    here, pool = rows[rows["step"] == latest], rows[rows["step"] == latest] if step is not None else rows
    rewarded = pool[np.isfinite(pool["reward"])].sort_values("step", ascending=False, kind="stable")
    drawn = here[here["sampled"].astype(bool)] if "sampled" in here else here
    picked = drawn.iloc[np.sort(np.random.default_rng(seed).permutation(len(drawn))[:count])]
    highest, lowest = (rewarded.sort_values("reward", ascending=up, kind="stable") for up in (False, True))
    return {
        "step": latest,
        "highest": _show(_varied(highest, count)),
        "lowest": _show(_varied(lowest, count)),
        "random": _show(picked),
        "longest": _show(here.loc[[here["response"].str.len().idxmax()]]),
        "newest_failures": _show(_failures(rows[rows["step"] <= latest], count)),
        "contrast": _pairs(here, "group", "reward", ("worse", "better"), count),
        "contradicting": _pairs(_best_paid(here, rows["reward"]), "group", "answer", ("one", "other"), count),
        "early_late": _pairs(rows[(rows["step"] <= latest) & (rows["prompt"] != "")], "prompt", "step", ("early", "late"), count),
        "gaps": _unshown(rows, rewarded),
    }


def _unshown(rows: Frame, rewarded: Frame) -> list[dict[str, str]]:
    """What could not be picked, and why."""
    gaps = [] if len(rewarded) else ["no response has a reward, so none can be called highest or lowest"]
    known = rows["prompt"].astype(bool).any()
    seen = rows.groupby("prompt")["step"].agg(["min", "max"])
    if rows["step"].min() < rows["step"].max() and not (known and (seen["min"] < seen["max"]).any()):
        gaps.append(
            "no prompt comes back at a later step" if known else "no prompts are logged, so early and late answers cannot be paired"
        )
    return [{"where": "rollouts", "why": why} for why in gaps]


def statistics(run: Run) -> Answer:
    """Text statistics of every measured step, what each means, and the words that came and went."""
    table = measured(run)
    if not len(table):
        return {"steps": [], "meaning": {}, "words": {}}
    steps = [_of_step(step, part) for step, part in table.groupby("step")]
    told = {k for s in steps for k in s}
    return {"steps": steps, "meaning": {k: v for k, v in MEANINGS.items() if k in told}, "words": _words(run)}


def _show(rows: Frame) -> list[Answer]:
    return [shown(row) for _, row in rows.iterrows()]


def _varied(rows: Frame, count: int) -> Frame:
    """The first rows, those that repeat an earlier text last; of equally rewarded ones those that repeat an earlier prompt after others."""
    import pandas as pd

    head = rows.head(count * 50)
    again = head.duplicated("response").to_numpy()
    asked = head.groupby(["reward", "group"], sort=False).cumcount().to_numpy()
    level = pd.factorize(head["reward"])[0]
    return head.iloc[np.lexsort((asked, level, again))].head(count)


def _failures(rows: Frame, count: int) -> Frame:
    """The latest responses whose reward is the lowest of their group while the group had a better one."""
    by = rows.groupby(["step", "group"])["reward"]
    failed = rows[(rows["reward"] == by.transform("min")) & (rows["reward"] < by.transform("max"))]
    return _varied(failed.sort_values("step", ascending=False, kind="stable"), count)


def _pairs(rows: Frame, by: str, along: str, named: tuple[str, str], count: int) -> list[Answer]:
    """The first and the last along a column of the sets in which it differs most: one prompt, two answers."""
    ends = rows.groupby(by)[along].agg(["min", "max"])
    apart = (ends["max"] - ends["min"]).sort_values(ascending=False, kind="stable")
    sets = (rows[rows[by] == key].dropna(subset=[along]).sort_values(along, kind="stable") for key in apart[apart > 0].index[:count])
    return [dict(zip(named, (shown(each.iloc[0]), shown(each.iloc[-1])), strict=True)) for each in sets]


def _best_paid(rows: Frame, every: Series) -> Frame:
    """The responses that earn the most, and more than nothing, and end in a number or a letter, with the ``answer``'s number.

    Nothing is what the lowest of the run earned, or 0 when all earned the same.
    """
    import pandas as pd

    nothing = every.min() if every.max() > every.min() else 0.0
    best = rows[(rows["reward"] >= rows["reward"].max() - 1e-9) & (rows["reward"] > nothing + 1e-9)]
    answers = best["response"].map(single_answer)
    told = answers != ""
    found: Frame = best[told].assign(answer=pd.factorize(answers[told])[0])
    return found


def _of_step(step: object, part: Frame) -> Answer:
    firsts = part.drop_duplicates("cluster")
    means = {k: part[k].astype(np.float64).mean() for k in ("reward", *MEASURED) if k in part}
    means |= {"distinct_in_group": firsts["distinct"].mean(), "distinct_across": distinct_share(firsts["response"].tolist())}
    known = {k: round(float(v), 4) for k, v in means.items() if np.isfinite(v)}
    return {"step": float(str(step)), "responses": len(part), **known}


def _words(run: Run) -> dict[str, list[Answer]]:
    """Words that surely came into the text since the first samples, and those that went; the reward's formula names those that are paid."""
    with suppress(TooFewPoints):
        s = stretches(run)
        ranked = [word for word in telling_words(s.first["response"].tolist(), s.latest["response"].tolist()) if abs(word.z) >= _SURE]
        ends = {"came": [w for w in ranked if w.z > 0][:_TELLING], "went": [w for w in ranked[::-1] if w.z < 0][:_TELLING]}
        return {end: [word._asdict() for word in words] for end, words in ends.items()}
    return {}
