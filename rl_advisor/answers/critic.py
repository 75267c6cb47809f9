"""The fixed-batch test of a critic: can the returns of one saved batch be told from its observations, and does the critic tell them."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from rl_advisor.answers import table_file
from rl_advisor.answers.templates import case
from rl_advisor.discovery import table
from rl_advisor.features import TooFewPoints
from rl_advisor.features.fit import explained_variance, predictable
from rl_advisor.finding import number
from rl_advisor.output import Answer
from rl_advisor.output.errors import UsageError
from rl_advisor.reading.formats.arrays import numbers
from rl_advisor.run import Floats

NAMES: Mapping[str, list[str]] = table(__file__, "handed_in.toml")["batch"]
"""What a batch holds -> the names it may go by; of a table also columns that begin with one of observations' names (``obs_0``)."""
PICKLED = (".pt", ".pth", ".ckpt", ".bin", ".pkl", ".pickle", ".joblib")
MOST_ROWS = 20_000


def numbers_of(path: Path) -> dict[str, Any]:
    """The numbers of a saved batch by their names, at most 20,000 rows; what is no number is left out.

    Raises:
        UsageError: there is no such file, or no number in it; a pickle comes with the lines that convert it.
    """
    if not path.is_file():
        raise UsageError(f"there is no file {path.name}")
    if path.suffix.lower() in PICKLED:
        raise UsageError(
            f"{path.name} is a pickle, which runs code when it is opened, so it is not. Where it was written, convert it: "
            f"batch = torch.load({path.name!r}, weights_only=True); "
            f"numpy.savez({path.stem + '.npz'!r}, **{{k: v.float().cpu().numpy() for k, v in batch.items() if hasattr(v, 'numpy')}})"
        )
    try:
        archive = path.suffix.lower() == ".npz"
        columns = (
            dict(numbers(path)) if archive else {str(name): _stacked(part) for name, part in table_file.table(path, MOST_ROWS).items()}
        )
    except Exception as unfit:
        raise UsageError(f"{path.name} cannot be read as a batch: {str(unfit)[:200]}") from unfit
    if not any(part.size for part in columns.values()):
        raise UsageError(f"{path.name} holds no numbers; it has {', '.join(sorted(columns)[:12]) or 'nothing'}")
    return {name: part for name, part in columns.items() if part.size}


def _rows_of(name: str, parts: Mapping[str, Any]) -> dict[str, Floats]:
    """Observations as a table, returns and values as vectors, rows of whole numbers alone.

    Raises:
        UsageError: there is not one of each.
    """
    observations, returns, values = parts["observations"], parts["returns"], parts.get("values")
    # Buffers of several environments are step by environment: an environment's steps belong together.
    if returns.ndim == 2 and returns.shape[1] > 1 and observations.shape[:2] == returns.shape:
        observations, returns = np.moveaxis(observations, 1, 0).reshape(returns.size, -1), returns.T
        values = values.T if values is not None and values.shape == returns.T.shape else values
    rows = {"observations": observations, "returns": returns.ravel(), **({"values": values.ravel()} if values is not None else {})}
    if len({len(part) for part in rows.values()}) > 1:
        raise UsageError(f"{name}: {', '.join(f'{len(part)} {role}' for role, part in rows.items())}: not one of each")
    rows = {role: part[:MOST_ROWS] for role, part in rows.items()}
    rows["observations"] = rows["observations"].reshape(len(rows["returns"]), -1)
    whole = np.isfinite(rows["returns"]) & np.isfinite(rows["observations"]).all(axis=1)
    return {role: np.asarray(part[whole], np.float64) for role, part in rows.items()}


def fingerprint(batch: Mapping[str, Floats]) -> str:
    """Twelve letters that are the same for the same numbers, whatever file they came in: what shows that two tries used one batch."""
    digest = sha256()
    for role in sorted(batch):
        digest.update(role.encode() + np.ascontiguousarray(batch[role], dtype="<f4").tobytes())
    return digest.hexdigest()[:12]


def _of(columns: Answer, role: str) -> Any:
    """The array of a role; of a table the columns that begin with one of its names side by side; None where there is none."""
    for name in NAMES[role]:
        if name in columns:
            return np.asarray(columns[name])
        parts = sorted((c for c in columns if c.startswith((f"{name}_", f"{name}.", f"{name}/"))), key=lambda c: (len(c), c))
        if role == "observations" and parts:
            return np.column_stack([columns[c] for c in parts])
    return None


def _stacked(column: Any) -> Any:
    """Numbers, or lists of numbers of one length, as an array; text is no column of a batch."""
    values = column.tolist()
    if values and isinstance(values[0], list | np.ndarray) and len({len(row) for row in values if row is not None}) > 1:
        values = [x for row in values if row is not None for x in row]  # as long as each answer is
    array = np.array(values, dtype=object) if not values or isinstance(values[0], str) else np.array(values)
    return array if array.dtype.kind in "fiub" else np.empty((0, 0))


SMALL = 0.1
"""Share of the returns' spread below which that of the critic's values is a matter of scale."""


def critic_test(batch: Path) -> Answer:
    """What the batch shows, as plain JSON: the regressor's and the critic's explained variance, both scales, and what they mean.

    Of one without observations or returns, as one of tokens is, its fingerprint alone, and the names that it has.

    Raises:
        UsageError: no such batch, or too few rows.
    """
    columns = numbers_of(batch)
    parts = {role: found for role in NAMES if (found := _of(columns, role)) is not None}
    lacks = next((role for role in ("observations", "returns") if role not in parts), None)
    if lacks:
        has = ", ".join(f"{name} {' x '.join(map(str, part.shape))}" for name, part in sorted(columns.items())[:12])
        says = f"{batch.name} holds no {lacks}, so no critic can be tested on it; it has {has}. Names: {', '.join(NAMES[lacks])}."
        return {"fingerprint": fingerprint(columns), "says": says}
    held = _rows_of(batch.name, parts)
    returns, same = held["returns"], fingerprint(held)
    if not returns.var():
        says = f"All {returns.size} returns are {number(returns[0])}: there is nothing to fit."
        return {"rows": returns.size, "fingerprint": same, "says": says}
    try:
        fitted, seen = predictable(held["observations"], returns)
    except TooFewPoints as few:
        raise UsageError(f"{batch.name}: {few}") from few
    fit = {"explained_variance": fitted.mean(), "low": fitted.min(), "high": fitted.max(), "of_rows_it_saw": seen}
    told = {"mean": returns.mean(), "std": returns.std(), "min": returns.min(), "max": returns.max()}
    values, own, beside = held.get("values"), None, Answer()
    if values is not None:
        own = {"explained_variance": explained_variance(returns, values), "mean": values.mean(), "std": values.std()}
        beside = {
            "reaches": own["explained_variance"] / max(fit["explained_variance"], 1e-9),
            "small": {"values": own["std"], "returns": told["std"]} if own["std"] < SMALL * told["std"] else {},
            "off": {"values": own["mean"], "returns": told["mean"]} if abs(own["mean"] - told["mean"]) > told["std"] else {},
        }
    figures = {"regressor": fit, "critic": own, "returns": told}
    return {
        "rows": returns.size,
        "fingerprint": same,
        "dimensions": held["observations"].shape[1],
        **figures,
        **case("critic", figures | beside | {"tells": max(fit["explained_variance"], 0.0)}),
    }
