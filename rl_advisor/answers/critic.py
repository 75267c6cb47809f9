"""The fixed-batch test of a critic: can the returns of one saved batch be told from its observations, and does the critic tell them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rl_advisor.answers.saved_batch import batch_of, fingerprint
from rl_advisor.features import TooFewPoints
from rl_advisor.features.fit import explained_variance, predictable
from rl_advisor.finding import number
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError

TELLS, NOTHING, MUCH_LESS, SMALL = 0.3, 0.1, 0.5, 0.1
"""Explained variance from which observations tell returns; up to which they do not; the critic's share of it, and the share of
the returns' spread that its values have, below which it is at fault."""
REPAIR = "Repair the critic alone: reward scale, normalised returns, its learning rate, its size, bootstrap target, masks of ends."


def critic_test(batch: Path) -> Answer:
    """What the batch shows, as plain JSON: the regressor's and the critic's explained variance, both scales, and what they mean.

    Raises:
        UsageError: no such batch, or it lacks observations or returns; the message names what it has.
    """
    held = batch_of(batch)
    returns = held["returns"]
    if float(np.var(returns)) == 0:
        return {"rows": int(returns.size), "says": f"All {returns.size} returns are {number(float(returns[0]))}: there is nothing to fit."}
    try:
        fitted, seen = predictable(held["observations"], returns)
    except TooFewPoints as few:
        raise UsageError(f"{batch.name}: {few}") from few
    fit = {"explained_variance": float(fitted.mean()), "low": float(fitted.min()), "high": float(fitted.max()), "of_rows_it_saw": seen}
    values = held.get("values")
    own = None
    if values is not None:
        own = {"explained_variance": explained_variance(returns, values), "mean": float(values.mean()), "std": float(values.std())}
    told = {"mean": float(returns.mean()), "std": float(returns.std()), "min": float(returns.min()), "max": float(returns.max())}
    says, do = _meaning(fit, own, told)
    return {
        "rows": int(returns.size),
        "fingerprint": fingerprint(held),
        "dimensions": int(held["observations"].shape[1]),
        "regressor": fit,
        "critic": own,
        "returns": told,
        "says": says,
        "do": do,
    }


def _meaning(fit: Mapping[str, float], own: Mapping[str, float] | None, told: Mapping[str, float]) -> tuple[str, str]:
    """What the figures say, and what to do."""
    can = f"{100 * max(fit['explained_variance'], 0):.0f} % of the returns' variance"
    if fit["explained_variance"] < NOTHING:
        few = fit["of_rows_it_saw"] > 2 * TELLS
        why = "on rows it saw it can, so these rows are too few or too unlike" if few else "not even on rows it saw"
        says = f"A small regressor tells {can} from the observations ({why}): they do not determine the returns."
        return says, (
            "Look for what the critic cannot see (time left, hidden state), rows that do not belong together, wrong masks, or returns "
            "that are mostly luck. Training the critic longer will not help; larger batches and a longer average will."
        )
    says = f"A small regressor tells {can} on rows it did not see"
    if own is None:
        return f"{says}: the returns can be learned. The batch holds no values, so the critic itself was not tested.", (
            "Save the critic's values with the batch, or train the critic alone on it: it should reach as much."
        )
    has = own["explained_variance"]
    both = f"{says}, the critic {100 * has:.0f} %"
    if has >= MUCH_LESS * fit["explained_variance"]:
        return f"{both}: the critic is not what is wrong.", "Look elsewhere: a reward that changes, the data, the size of the updates."
    scales = f" Its values spread over {number(own['std'])}, returns over {number(told['std'])}"
    small = f"{scales}: a matter of scale." if own["std"] < SMALL * told["std"] else ""
    levels = f" Its values stand at {number(own['mean'])}, returns at {number(told['mean'])}."
    off = levels if abs(own["mean"] - told["mean"]) > told["std"] else ""
    return f"{both}: the returns can be learned, and the critic has not learned them.{small}{off}", REPAIR
