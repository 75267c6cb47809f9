"""Episode logs of several environments of one run become curves over the environment steps of all of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from rl_advisor.run import Curve, Run


def merged_episodes(parts: Sequence[tuple[str, Run]]) -> list[tuple[str, Run]]:
    """The parts with those of axis ``episode`` in one folder merged by the time at which each episode ended.

    The step of an episode is the sum of the lengths of all episodes that ended up to then: environment steps, without those of episodes
    still running.
    """
    out = [(path, part) for path, part in parts if part.axis != "episode"]
    folders: dict[PurePosixPath, list[tuple[str, Run]]] = {}
    for path, part in parts:
        if part.axis == "episode":
            folders.setdefault(PurePosixPath(path).parent, []).append((path, part))
    return out + [(group[0][0], _merged([part for _, part in group])) for group in folders.values()]


def _merged(parts: Sequence[Run]) -> Run:
    names = sorted(set().union(*(p.curves for p in parts)))
    files = tuple(f for p in parts for f in p.files)
    gaps = tuple(g for p in parts for g in p.gaps)
    length = next((n for n in names if n.endswith("/l")), None)
    if length is None:
        return replace(parts[0], files=files, gaps=gaps, axis="step")
    with_it = [p for p in parts if length in p.curves]
    time = np.concatenate([_time(p.curves[length]) for p in with_it])
    order = np.argsort(time, kind="stable")
    step = np.cumsum(np.concatenate([p.curves[length].value for p in with_it])[order])
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    curves = {}
    for name in names:
        value = np.concatenate([p.curves[name].value for p in with_it])[order]
        curves[name] = Curve(name, name, source, step, value, time[order])
    return replace(parts[0], curves=curves, files=files, gaps=gaps, axis="step")


def _time(curve: Curve) -> np.ndarray:
    return curve.step if curve.time is None else curve.time
