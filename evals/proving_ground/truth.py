"""Labels from the true score by stated definitions; where a definition is near its boundary, both readings are admitted.

The score is scaled so that 0 is a useless policy and 1 a task that is solved. ``MARGIN`` of it is what a user would care about. A claim
"x is more than the margin" is sure above 1.5 margins, false below a margin over 1.5, and open in between: then both verdicts stand in the set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground import control, plans
from evals.proving_ground.faults import FAULTS, Broken

Floats = npt.NDArray[np.float64]
MARGIN = 0.06
CUTS = (0.25, 0.5, 0.75, 1.0)
BROAD = 1.5
SOUND = frozenset({"improving", "plateaued"})
UNASKED = frozenset({"none", "policy_update", "training_signal", "exploration"})
"""What an honest reader may say of a run that came apart although nothing was broken."""
LATE = 0.15
"""Share of what was seen that counts as its end."""
NEAR = 0.1
"""Share of the plan within which two faults began together."""


@dataclass(frozen=True)
class Scores:
    """A run's scores on the common scale, at shares of its plan."""

    at: Floats
    true: Floats
    seen: Floats
    again: Floats
    """Another second half from the same state; empty where none was made."""

    def until(self, cut: float) -> "Scores":
        """The same up to a share of the plan."""
        n = int((self.at <= cut + 1e-9).sum())
        return Scores(self.at[:n], self.true[:n], self.seen[:n], self.again[:0])


def scaled(task: str, score: Floats) -> Floats:
    """A true score on the common scale; what is not a number is worth nothing."""
    game = control.GAMES.get(task)
    value = score if game is None else (score - game.low) / (game.high - game.low)
    return np.clip(np.nan_to_num(value, nan=0.0), -0.1, 1.1)


def smooth(score: Floats, reach: int = 2) -> Floats:
    """Moving mean of five, narrower at both ends."""
    n = score.size
    return np.array([score[i - h : i + h + 1].mean() for i in range(n) for h in (min(reach, i, n - 1 - i),)])


def ending(score: Floats) -> float:
    """Mean of the last part."""
    return float(score[-max(2, round(LATE * score.size)) :].mean())


def over(value: float, bound: float, broad: float = BROAD) -> set[bool]:
    """Whether ``value`` is over ``bound``: one answer where it is clear, both where it is near."""
    return {value > bound * broad, value > bound / broad}


def margin(score: Floats) -> float:
    """What matters on the common scale: ``MARGIN``, or twice the noise of a mean of five where that is more."""
    if score.size < 6:
        return 2 * MARGIN
    noise = 1.4826 * float(np.median(np.abs(np.diff(score, n=2)))) / 6**0.5
    return max(MARGIN, 2 * noise * (2 / 5) ** 0.5)


def verdicts(score: Floats, reachable: float, broad: float = BROAD) -> set[str]:
    """The admissible verdicts on a true score, given what sound runs of the same settings reach; one of them at a ``broad`` of 1."""
    s, m = smooth(score), margin(score)
    start, best, end = float(s[: min(2, s.size)].mean()), float(s.max()), ending(s)
    height = max(best - min(start, 0.0 if start < 0.3 else start), m)
    found: set[str] = set()
    drop = max(best - end, 0.0) if best > 1.2 * m else 0.0  # what was never there cannot be lost
    for fell in over(drop, max(1.5 * m, 0.2 * height), broad):
        found |= fallen(start, best, end, broad) if fell else standing(s, start, best, m, reachable, broad)
    swings = len(waves(score[score.size // 3 :], max(3 * m, 0.3 * height)))
    if swings >= 2:
        found = (found - {"improving"} if swings > 2 else found) | {"unstable"}
    return found - SOUND if swings > 3 and len(found - SOUND) else found


def fallen(start: float, best: float, end: float, broad: float) -> set[str]:
    """Collapsed where little is left of what there was, degrading where much is."""
    left = 1 - (best - end) / max(best - min(0.0, start), 1e-9)
    return {"degrading" if much else "collapsed" for much in over(left, 0.27, broad)}


def standing(s: Floats, start: float, best: float, m: float, reachable: float, broad: float) -> set[str]:
    """Improving or plateaued where it rose; without a rise not learning, unless there was nothing to gain."""
    found: set[str] = set()
    for rose in over(best - start, m, broad):
        if rose:
            k = 2 * s.size // 3
            late = ending(s) - float(s[max(0, k - 1) : k + 2].mean())
            found |= {"improving" if more else "plateaued" for more in over(late, m / 2, broad)}
        elif reachable - start < m:
            found |= {"plateaued"} | (set() if start > 0.6 or broad == 1 else {"not_learning"})
        else:
            found |= {"not_learning"} | (set() if start < 0.5 or broad == 1 else {"plateaued"})
    return found


def waves(score: Floats, height: float) -> list[int]:
    """Where falls of that height began that were made good again by half at least."""
    found, top, low, at = [], -np.inf, np.inf, 0
    for i, value in enumerate(smooth(score, 1)):
        if value > top:
            top, low, at = value, value, i
        low = min(low, float(value))
        if top - low > height and value - low > height / 2:
            found.append(at)
            top, low, at = value, value, i
    return found


def mattered(run: Floats, twins: Sequence[Floats]) -> set[bool]:
    """Whether the run ended lower than its sound twins, by more than they differ from each other."""
    ends = [ending(smooth(t)) for t in twins]
    return over(float(np.mean(ends)) - ending(smooth(run)), max(margin(run), (max(ends) - min(ends)) / 2))


def links(run: Scores, broken: Sequence[Broken], twins: Sequence[Scores], found: set[str]) -> tuple[set[str], Broken | None]:
    """The admissible first broken links, and the fault they come from: the first one by whose time's end harm was done."""
    acting = [b for b in broken if b.onset < run.at[-1]]
    if not acting:
        return ({"none"} if found & SOUND else set(UNASKED)), None
    told: set[str] = set()
    for i, one in enumerate(acting):
        together = [b for b in acting if abs(b.onset - one.onset) < NEAR]
        until = min([b.onset for b in acting[i + 1 :] if b.onset >= one.onset + NEAR] + [float(run.at[-1])])
        own = {name for b in together for name in FAULTS[b.fault].links}
        so_far = run.until(until)
        unseen = "evaluation" in FAULTS[one.fault].links
        harmed = misread(so_far, one) if unseen else mattered(so_far.true, [t.until(until).true for t in twins])
        if harmed == {True}:
            return told | own, one
        told |= own if True in harmed else set()
    rest = {"none"} if found & SOUND else {"none"} | {name for b in acting for name in FAULTS[b.fault].links} | set(UNASKED)
    return told | rest, None


def misread(run: Scores, one: Broken) -> set[bool]:
    """Whether the evaluation that may be logged came away from the true score by the fault."""
    after, before = run.at >= one.onset, run.at < one.onset
    if after.sum() < 3:
        return {False}
    gap = run.seen - run.true
    return over(abs(float(gap[after].mean()) - (float(gap[before].mean()) if before.any() else 0.0)), 2 * MARGIN)


def gamed(run: Scores, broken: Sequence[Broken], reward: Floats, found: set[str]) -> bool:
    """Whether a fault of the reward made the reward rise while the true score did not."""
    acting = [b for b in broken if "reward_signal" in FAULTS[b.fault].links and b.onset < run.at[-1]]
    if not acting or found <= SOUND or reward.size < 10:
        return False
    after = reward[int(acting[0].onset * reward.size) :] if acting[0].onset < 0.9 else reward[:0]
    if after.size < 10 or not np.isfinite(after).all():
        return False
    k, spread = max(3, after.size // 8), np.abs(np.diff(reward)).mean() + 1e-9
    rise = after[-k:].mean() - after[:k].mean()
    return bool(rise > max(4 * spread / np.sqrt(k), 0.1 * np.ptp(reward)))


def going_on(run: Scores, cut: float) -> dict[str, Any]:
    """What going on from the cut brought: the best smoothed true score after it against the best before; nothing at the end."""
    before, after = run.true[run.at <= cut + 1e-9], run.true[run.at > cut + 1e-9]
    if after.size < 3:
        return {}
    had = float(smooth(before).max())
    gain = [float(smooth(after).max()) - had]
    if run.again.size and abs(cut - 0.5) < 0.05:
        gain.append(float(smooth(run.again).max()) - had)
    pays = [g > margin(run.true) for g in gain]
    return {"gain_after": round(gain[0], 4), "continue_pays": pays[0]} | ({"again_pays": pays[1]} if len(pays) > 1 else {})


def label(spec: dict[str, Any], run: Scores, twins: Sequence[Scores], reward: Floats) -> dict[str, Any]:
    """The entry of ``labels.json`` for one run, in the form that every corpus here has; steps are still those of the training."""
    broken, cuts = [Broken(**b) for b in spec["broken"]], {}
    reachable = max(float(smooth(t.true).max()) for t in [*twins, run])
    for cut in CUTS:
        part, steps = run.until(cut), round(cut * spec["steps"])
        found = verdicts(part.true, reachable)
        named, cause = links(part, broken, [t.until(cut) for t in twins], found)
        main = verdicts(part.true, reachable, 1.0)
        if gamed(part, broken, reward[:steps], found):
            found, main = (found - SOUND) | {"reward_hacking"}, {"reward_hacking"}
        cuts[cut] = {
            "cut": steps, "verdicts": sorted(found, key=lambda v: (v not in main, v)), "links": sorted(named),
            "cause": cause.fault if cause else None, "injected_at": round(cause.onset * spec["steps"]) if cause else None,
            "fault_ahead": any(b.onset >= cut for b in broken), **going_on(run, cut),
        }  # fmt: skip
    s, steps = smooth(run.true), (run.at * spec["steps"]).round().astype(int)
    whole = cuts.pop(1.0)
    return {
        "scenario": spec["group"], "split": "test" if spec["held"] else "dev", "verdicts": whole["verdicts"],
        "links": [] if whole["links"] == ["none"] else whole["links"], "cause": whole["cause"], "injected_at": whole["injected_at"],
        "steps": spec["steps"], "cuts": {f"{cut:g}": told for cut, told in cuts.items()}, "best_step": int(steps[s.argmax()]),
        "truth": [[int(at), round(float(v), 4)] for at, v in zip(steps, run.true, strict=True)],
        "task": spec["task"], "learner": spec["learner"], "habit": spec["habit"], "broken": spec["broken"],
    }  # fmt: skip


def of_block(data: Any, specs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The labels of all runs of a block, each beside the sound runs of its group."""
    at = data["moments"] / data["moments"][-1]
    names = data["names"].tolist()
    task = specs[0]["task"]
    true, seen, again = (scaled(task, data[name].astype(np.float64)) for name in ("truth", "seen", "again"))
    runs = [Scores(at, true[i], seen[i], again[i]) for i in range(len(specs))]
    told = []
    for i, spec in enumerate(specs):
        sound = [j for j, s in enumerate(specs) if s["group"] == spec["group"] and not s["broken"]]
        twins = [runs[j] for j in sound if j != i] or [runs[i]]
        told.append(label(spec, runs[i], twins[: plans.TWINS], data["metrics"][i, :, names.index("reward/mean")].astype(np.float64)))
    return told
