"""Episode logs of several environments of one run become curves over the environment steps of all of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from rl_advisor.reading.separating import path_of
from rl_advisor.run import Curve, Gap, Run

MOST_FRAMES = 8
"""Frames that one action of an agent lasts at most."""


def merged_episodes(parts: Sequence[Run]) -> list[Run]:
    """The parts with those of axis ``episode`` in one folder merged by the time at which each episode ended.

    The step of an episode is the sum of the lengths of all episodes that ended up to then: environment steps, without those of episodes
    still running. Where only some of the parallel environments kept their files, that sum is brought to the steps of the whole run.
    """
    out = [part for part in parts if part.axis != "episode"]
    folders: dict[PurePosixPath, list[Run]] = {}
    for part in parts:
        if part.axis == "episode":
            folders.setdefault(path_of(part).parent, []).append(part)
    return out + [_on_the_runs_steps(_merged(group), _end(folder, out)) for folder, group in folders.items()]


def _end(folder: PurePosixPath, parts: Sequence[Run]) -> float:
    """The last step of the files nearest to the folder: in it, or in the first one above it that has any. Others may be another run's."""
    counted = [part for part in parts if part.axis == "step" and any(c.step.size for c in part.curves.values())]
    for place in (folder, *folder.parents):
        if near := [float(part.last_step) for part in counted if path_of(part).is_relative_to(place)]:
            return max(near)
    return float("nan")


def _on_the_runs_steps(episodes: Run, end: float, slack: float = 0.04) -> Run:
    """The episodes with their steps multiplied by the number of environments that each file stands for.

    ``end`` is the last step of the run's other files. Parallel environments step together, so it is a whole multiple of the steps counted
    here, short by the episode that was still running. Where it is none, nobody knows where these episodes belong: they become a gap.
    """
    length = next((c for name, c in episodes.curves.items() if name.endswith("/l")), None)
    if length is None or not length.step.size or not np.isfinite(end) or length.step[-1] <= 0:
        return episodes
    counted, running = float(length.step[-1]), float(length.value.max())
    ratio, frames = end / counted, round(counted / end)
    whole = [k for k in {round(ratio), int(ratio)} if k >= 2 and k * (1 - slack) * counted <= end <= k * (1 + slack) * (counted + running)]
    if 2 <= frames <= MOST_FRAMES and abs(counted / end - frames) <= slack * frames:
        factor, note = 1 / frames, f"frames, of which {frames} make a step of the agent"
    elif ratio < 1.5 or (ratio < 2 and end <= counted + 2 * running):
        return episodes
    elif whole:
        factor, note = whole[0], f"steps of one of {whole[0]} parallel environments, times {whole[0]}"
    else:
        seen = f"{counted:.0f} steps of their own environment, the run {end:.0f} (ratio {ratio:.1f})"
        why = f"the episodes count {seen}: where they belong is unknown; left out"
        return replace(episodes, curves={}, gaps=(*episodes.gaps, Gap(length.source, why)))
    curves = {n: replace(c, step=c.step * factor, note=c.note or note) for n, c in episodes.curves.items()}
    return replace(episodes, curves=curves)


def _merged(parts: Sequence[Run]) -> Run:
    names = sorted(set().union(*(p.curves for p in parts)))
    files = tuple(f for p in parts for f in p.files)
    gaps = tuple(g for p in parts for g in p.gaps)
    length = next((n for n in names if n.endswith("/l")), None)
    if length is None:
        return replace(parts[0], files=files, gaps=gaps, axis="step")
    with_it = [p for p in parts if length in p.curves]
    time = np.concatenate([c.step if c.time is None else c.time for c in (p.curves[length] for p in with_it)])
    order = np.argsort(time, kind="stable")
    step = np.cumsum(np.concatenate([p.curves[length].value for p in with_it])[order])
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    curves = {}
    for name in names:
        value = np.concatenate([p.curves[name].value for p in with_it])[order]
        curves[name] = Curve(name, name, source, step, value, time[order])
    return replace(parts[0], curves=curves, files=files, gaps=gaps, axis="step")
