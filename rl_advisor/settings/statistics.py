"""What may be asked of a curve, of a run or of its samples: statistics by their names, for rows of facts (``conditions``)."""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.ahead import ahead
from rl_advisor.curves.course import Course
from rl_advisor.curves.task import task
from rl_advisor.features.change import Discontinuity, discontinuity, spikes
from rl_advisor.priors import Prior, prior
from rl_advisor.priors.circumstances import circumstances, updates_per_batch
from rl_advisor.run import Curve, Floats, Run
from rl_advisor.samples.measured_text import Stretches
from rl_advisor.samples.text_change import pays, shift
from rl_advisor.settings.given import Given, Settings
from rl_advisor.settings.not_finite import blank, broken, curves_of, sound

FEWEST = 5
"""Points below which nothing is said of a curve."""
SAMPLES, MANY = "samples/", 50
"""Prefix of the measures of sampled text, and how many values say what is usual among them."""


def logged_curve(run: Run, metric: str) -> Curve | None:
    """The first of the metrics, or of a family ``x/*``, that has a value."""
    every = (run.family(name[:-1]).values() if name.endswith("/*") else [run.curves.get(name)] for name in metric.split("|"))
    return next((curve for curves in every for curve in curves if curve is not None and curve.finite()[1].size), None)


def _error(value: Floats) -> float:
    return float(np.std(value) / np.sqrt(value.size))


def _beside(curve: Curve, share: float, errors: float) -> float:
    """The level of the last part, so many errors above itself."""
    late = segments.final(curve, share)
    return float(np.median(late)) + errors * _error(late)


def _bursts(curve: Curve) -> float:
    """By how many single steps far above their surroundings the second half has more than the first, chance taken off."""
    step, _ = curve.finite()
    found = spikes(*curve.finite()).steps
    late = int((found >= step[step.size // 2]).sum())
    return late - (found.size - late) - 2 * float(np.sqrt(found.size)) if late >= FEWEST else 0.0


def _setting(run: Run, name: str) -> float | None:
    """A setting as a number, by the user's configuration or by what the framework says."""
    given, told = Settings(run).number(name), run.settings.get(name)
    return given if given is not None or not isinstance(told, int | float) else float(told)


FEW = 20
"""Rows up to which each counts for itself."""
SUBTRACTED = re.compile(r"(?i)penal|cost|repeti|overlong")
"""Parts of a reward that are subtracted: 0 is their best."""
OFF = ("no", "none", "null", "false", "intervalstrategy.no")
"""Words by which a setting is switched off."""
TOLD = "as the text says"
"""The note of a curve that somebody told in a sentence: its first and last values are what he saw, not noise."""
SIDES = ("far_below", "below", "usual", "above", "far_above")
SETTING_OF = {"policy/learning_rate": "learning_rate", "entropy/coef": "entropy_coef"}
"""Metric of the table of priors -> the setting; others are named alike."""


def _given(run: Run, name: str) -> Given | None:
    return Settings(run).given(name)


def _is_off(run: Run, name: str) -> bool | None:
    """Whether a setting says that something is not done; None where it is not given."""
    found = _given(run, name)
    if found is None:
        return None
    return found.value is False or str(found.value).lower() in OFF or (found.number is not None and found.number <= 0)


def _switched(run: Run, name: str) -> bool | None:
    """The opposite."""
    off = _is_off(run, name)
    return None if off is None else not off


def _unset(run: Run, name: str) -> bool:
    """Whether a setting is there and left empty."""
    return any(str(value).lower() in OFF for key, value in run.config.items() if key.rpartition(".")[2] == name)


def _worded(run: Run, asked: str, of: Callable[[Given], str]) -> bool | None:
    """Whether the text of a setting, or its key, matches: ``name=pattern``."""
    name, _, pattern = asked.partition("=")
    found = _given(run, name)
    return None if found is None else re.search(pattern, of(found)) is not None


def _unlike(run: Run, asked: str) -> bool | None:
    """Whether two settings are both numbers and differ, the second not being nothing."""
    one, other = (Settings(run).number(name) for name in asked.split("="))
    return other not in (one, 0) if one is not None and other is not None else None


def value_of(run: Run, name: str) -> float | None:
    """The setting that a metric of the table of priors stands for, as given or as logged."""
    given, curve = Settings(run).number(SETTING_OF.get(name, name.rpartition("/")[2])), logged_curve(run, name)
    return given if given is not None or curve is None else float(np.median(curve.finite()[1][-FEWEST:]))


def usual(run: Run, name: str) -> Prior | None:
    """What is usual for it under the circumstances, after warm-up."""
    return prior(name, circumstances(run, "late"))


def _side(run: Run, name: str) -> float | None:
    """Where it lies: 1 above what is usual, 2 above what is possible, below nothing likewise."""
    value, row = value_of(run, name), usual(run, name)
    return None if value is None or row is None or row.side(value) not in SIDES else SIDES.index(row.side(value)) - 2.0


def _broke(run: Run, names: str) -> bool:
    """Whether one of the metrics ends in NaN or infinity."""
    curves = (run.curves[name] for name in names.split("|") if name in run.curves)
    return any(c.value.size and not np.isfinite(c.value[-1]) for c in curves)


def _one_update(run: Run) -> bool:
    """Whether the settings say that each batch is used for one update."""
    return run.settings.get("updates_per_batch", 1) == 1 and run.settings.get("minibatches") == 1


def _named(run: Run, asked: str) -> bool | None:
    """Whether what the user calls a metric matches: ``name=pattern``."""
    name, _, pattern = asked.partition("=")
    return re.search(pattern, run.curves[name].raw) is not None if name in run.curves else None


def _part(run: Run, asked: str, of: Callable[[Floats], bool]) -> bool:
    """Whether one of a family's curves, costs left out, is so."""
    values = (c.finite()[1] for name, c in run.family(asked).items() if not SUBTRACTED.search(name))
    return any(x.size > 0 and of(x) for x in values)


def _dropped(x: Floats) -> float:
    """What share of the highest of a few rows was lost, where nearly every row after it lies lower; 0 where not."""
    after = x[int(np.argmax(x)) :]
    steady = 3 <= x.size <= FEW and x.min() >= 0 and after.size >= 5 and int(np.sum(np.diff(after) > 0)) <= after.size // 6
    return 1 - float(after[-2:].mean() / max(after[0], 1e-12)) if steady else 0.0


def _sinks(x: Floats) -> float:
    """What share of its first value was lost in a few rows that (almost) all lie lower than the one before."""
    steady = 3 <= x.size <= FEW and x[0] > 0 and np.mean(np.diff(x) < 0) >= 0.75
    return 1 - float(x[-1] / x[0]) if steady else 0.0


def _outlying(x: Floats) -> float:
    """How many times the spread of most values the farthest lies away from their middle."""
    low, high = np.quantile(x, [0.05, 0.95]) if x.size >= MANY else (0.0, math.inf)
    nonzero = np.abs(x[x != 0])
    return float(np.abs(x - np.median(x)).max() / max(high - low, float(np.median(nonzero)) if nonzero.size else 1.0)) if x.size else 0.0


def _growth(curve: Curve) -> float:
    """How many times as large its values became."""
    first, last = (float(np.median(np.abs(part))) for part in (segments.opening(curve, 0.2), segments.final(curve)))
    return last / max(first, 1e-12)


def _outgrown(run: Run, name: str) -> float | None:
    """How many times as large an error became, beyond the square of the returns' growth, which it follows."""
    curve, reward = logged_curve(run, name), outcomes.training(run)
    if curve is None or curve.finite()[1].size < FEWEST:
        return None
    return _growth(curve) / max(1.0, _growth(reward) if reward is not None else 1.0) ** 2


def _since_best(run: Run, name: str) -> float | None:
    """How many times as large a metric is at the end as it was up to the outcome's best."""
    curve, outcome = logged_curve(run, name), outcomes.course_or_none(outcomes.outcome(run))
    if curve is None or outcome is None:
        return None
    step, value = curve.finite()
    near = value[step <= max(outcome.best_step, step[min(4, step.size - 1)])][-9:]
    return float(np.median(segments.final(curve))) / max(float(np.median(near)), 1e-4)


@lru_cache(maxsize=64)
def _jump(curve: Curve) -> Discontinuity:
    return discontinuity(*curve.finite())


def _late_events(run: Run, kind: str, share: float = 0.05) -> float | None:
    """How many events of a kind came after the first part of the run."""
    if not run.events:
        return None
    after = run.first_step + share * (run.last_step - run.first_step)
    return float(sum(e.kind == kind and (e.step is None or e.step > after) for e in run.events))


OF_VALUES: Mapping[str, Callable[[Floats], float]] = {
    "first": lambda x: x[0],
    "median": np.median,
    "max": np.max,
    "min": np.min,
    "low": lambda x: np.quantile(x, 0.1),
    "high": lambda x: np.quantile(x, 0.9),
    "points": np.size,
    "level": lambda x: float(np.median(x[-FEWEST:])),
    "half": lambda x: np.median(x[x.size // 2 :][:5]),
    "newest": lambda x: x[-1],
    "climb": lambda x: x[-1] - x[0],
    "square": lambda x: float(np.median(x[-FEWEST:])) ** 2,
    "nothing": lambda x: float(np.mean(np.abs(x) <= 1e-9)),
    "size_before": lambda x: float(np.median(np.abs(x[: x.size // 2]))) if x.size > 1 else math.nan,
    "size_after": lambda x: float(np.median(np.abs(x[-max(2, x.size // 20) :]))),
    "dropped": _dropped,
    "sinks": _sinks,
    "negative": lambda x: float(np.mean(x < 0)),
    "span": lambda x: max(abs(float(np.median(x))), 1.0 if np.abs(x).max() <= 1 else float(np.abs(x).max())),
}
"""What may be asked of all values of a curve; ``span`` is the scale on which they live."""
OF_STRETCH: Mapping[str, Callable[[Curve], float]] = {
    "start": lambda c: float(np.median(segments.opening(c))),
    "end": lambda c: float(np.median(segments.final(c))),
    "last": lambda c: float(np.median(segments.final(c, 0.05))),
    "size": lambda c: abs(float(np.median(segments.final(c, 0.4)))),
    "spread": lambda c: float(np.std(segments.final(c, 0.4))),
    "above": lambda c: _beside(c, 0.4, 2.0),
    "off_one": lambda c: abs(float(np.mean(segments.final(c))) - 1) - 2 * _error(segments.final(c)),
    "zeros": lambda c: float(np.mean(np.abs(segments.final(c)) <= 1e-12)),
    "pinned": lambda c: float(np.mean(segments.final(c) >= 0.99 * c.finite()[1].max())),
    "begins": lambda c: float(c.finite()[0][0] / max(c.step[-1], 1e-9)),
    "constant": lambda c: float(segments.constant(c)),
    "began": lambda c: found.high if (found := segments.began(c)) else math.inf,
    "declined": lambda c: segments.decline_began(c).low,
    "jump": lambda c: _jump(c).ratio,
    "jump_low": lambda c: _jump(c).low,
    "jump_high": lambda c: _jump(c).high,
    "jump_step": lambda c: _jump(c).at,
    "peaks": lambda c: float(spikes(*c.finite(), ratio=10.0).recovered.sum()),
    "late_spikes": lambda c: float(segments.late_spikes(c).size),
    "explodes": segments.explodes,
    "spikes": lambda c: float(spikes(*c.finite()).steps.size),
    "bursts": _bursts,
}
"""What may be asked of how a curve begins, ends, jumps and scatters."""


OF_COURSE: Mapping[str, Callable[[Course], float]] = {
    "starts": lambda c: c.start,
    "ends": lambda c: c.last,
    "best": lambda c: c.best,
    "best_step": lambda c: c.best_step,
    "rise": lambda c: c.gain.low,
    "fall": lambda c: -c.gain.high,
    "before": lambda c: c.gain.before,
    "after": lambda c: c.gain.after,
    "may_gain": lambda c: max(c.gain.high, c.best - c.start) if c.gain.high > 0 else 0.0,
    "moved": lambda c: max(c.best - c.start, c.best - c.last, c.margin),
    "change": lambda c: c.recent.slope * c.recent.span,
    "lost": lambda c: c.lost,
    "falls": lambda c: c.falls,
    "margin": lambda c: c.margin,
    "scatter": lambda c: c.scatter,
    "ceiling": lambda c: math.nan if c.ceiling is None else c.ceiling,
    "signal": lambda c: float(np.ptp(c.smoothed)),
    "noise": lambda c: c.noise,
    "detectable": lambda c: c.overall.detectable,
    "ahead": lambda c: ahead(c, float(c.step[-1] + (c.step[-1] - c.step[0]) / 3)).expected,
    "climbs": lambda c: c.direction_overall() == "rising",
    "rose": lambda c: c.rose,
    "fell": lambda c: c.fell,
    "kept": lambda c: c.rose and not c.fell,
    "grew": lambda c: c.got_somewhere,
    "solved": lambda c: c.at_ceiling,
    "touches": lambda c: c.touches_ceiling,
    "stopped": lambda c: c.stopped(),
    "at_rest": segments.at_rest,
    "trendless": lambda c: c.direction_overall() == "undecidable",
    **{way: lambda c, way=way: c.direction() == way for way in ("rising", "falling", "flat", "undecidable")},  # type: ignore[misc]
}
"""What may be asked of the course behind a curve's noise; ``rise`` and ``fall`` are what it surely gained or lost."""
OF_RUN: Mapping[str, Callable[[Run, str], float | None]] = {
    "setting": _setting,
    "given": lambda run, name: _given(run, name) is not None,
    "on": _switched,
    "off": _is_off,
    "unset": _unset,
    "unlike": _unlike,
    "side": _side,
    "word": lambda run, asked: _worded(run, asked, lambda found: str(found.value).lower()),
    "key": lambda run, asked: _worded(run, asked, lambda found: found.key),
    "method": lambda run, names: str(circumstances(run, "late").method) in names.split("|"),
    "action": lambda run, kind: circumstances(run).action == kind,
    "rows": lambda run, _: max((c.step.size for c in run.curves.values()), default=0),
    "done": lambda run, _: run.last_step / run.planned_steps if run.planned_steps else None,
    "told": lambda run, name: run.curves[name].note == TOLD if name in run.curves else None,
    "named": _named,
    "is": lambda _, asked: asked.partition("=")[0] == asked.partition("=")[2],
    "paid": lambda run, prefix: _part(run, prefix, lambda x: bool(np.abs(x).max() > 1e-9)),
    "unpaid": lambda run, prefix: _part(run, prefix, lambda x: bool(np.abs(x).max() <= 1e-9)),
    "part_grows": lambda run, prefix: _part(run, prefix, lambda x: bool(x[-1] - x[0] > 0.2 * max(1.0, abs(x[0])))),
    "broken": lambda run, names: len(broken(run, names)),
    "sound": lambda run, names: len(sound(run, names)),
    "blank": lambda run, names: len(blank(run, names)),
    "infinite": lambda run, names: all(np.isinf(c.value[-1]) for c in broken(run, names)),
    "gaps": lambda run, names: float(sum((~np.isfinite(c.value)).sum() for c in curves_of(run, names))),
    "framework": lambda run, name: name in (run.frameworks or ("None",)),
    "updates": lambda run, _: updates_per_batch(run.config),
    "calls": lambda run, names: Settings(run).calls(*names.split("|")),
    "events": lambda run, kind: float(sum(e.kind == kind for e in run.events)),
    "logged": lambda run, prefix: any(c.finite()[1].size > 1 for c in run.family(prefix).values()),
    "broke": _broke,
    "thriving": lambda run, _: outcomes.thriving(run),
    "troubled": lambda run, _: outcomes.any_fell(run),
    "stepped": lambda run, _: outcomes.stepped(run),
    "once": lambda run, _: True if circumstances(run).updates == "one" or _one_update(run) else None,
    "trained": lambda run, kind: bool({kind} & {task(run).kind, task(run).base, *task(run).traits}),
    "outgrown": _outgrown,
    "since_best": _since_best,
    "late_events": _late_events,
}
"""What may be asked of the run as a whole."""
OF_SAMPLES: Mapping[str, Callable[[Stretches, str], float | None]] = {
    "first": lambda s, column: shift(s, column).first,
    "latest": lambda s, column: shift(s, column).latest,
    "more": lambda s, column: shift(s, column).delta,
    "grown": lambda s, column: shift(s, column).low,
    "shrunk": lambda s, column: -shift(s, column).high,
    "outlying": lambda s, column: _outlying(s.table[column].dropna().to_numpy(np.float64)),
    "paid": lambda s, column: found.low if (found := pays(s, column)) else None,
}
"""What may be asked of a measure of the sampled text; ``grown`` and ``shrunk`` are what it surely gained or lost, ``paid`` how surely the
reward follows it among responses to one prompt."""
