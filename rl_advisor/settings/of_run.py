"""What may be asked of a run as a whole: its settings, events, families of metrics and machine, by names for rows of facts."""

import re
from collections.abc import Callable

import numpy as np

from rl_advisor.curves import outcomes, segments
from rl_advisor.curves.course import Course
from rl_advisor.curves.task import task
from rl_advisor.gpu.facts import FACTS, part
from rl_advisor.run import UNSAID, Curve, Run
from rl_advisor.samples.person import agreement, scored
from rl_advisor.settings.derived import all_at
from rl_advisor.settings.given import Given, settings_of
from rl_advisor.settings.not_finite import blank, broken, curves_of, sound
from rl_advisor.settings.priors import Prior, prior
from rl_advisor.settings.priors.circumstances import circumstances, updates_per_batch
from rl_advisor.settings.restarts import restarted, restarts, resumed
from rl_advisor.settings.standstill import FACTS as FACTS_OF_RUN
from rl_advisor.settings.standstill import see_saw
from rl_advisor.settings.statistics import FEWEST, logged_curve, parts_of


def _setting(run: Run, name: str) -> float | None:
    """A setting as a number, by the user's configuration or by what the framework says."""
    given, told = settings_of(run).number(name), run.settings.get(name)
    return given if given is not None or not isinstance(told, int | float) else float(told)


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
    return settings_of(run).given(name)


def _is_off(run: Run, name: str) -> bool | None:
    """Whether a setting says that something is not done; None where it is not given."""
    found = _given(run, name)
    if found is None:
        return None
    return found.value is False or str(found.value).lower() in OFF or (found.number is not None and found.number <= 0)


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
    one, other = (settings_of(run).number(name) for name in asked.split("="))
    return other not in (one, 0) if one is not None and other is not None else None


def _product(run: Run, names: str) -> float | None:
    """The product of settings that are joined by ``*``; None where one is not given, or is nothing."""
    found = [settings_of(run).number(name) for name in names.split("*")]
    return float(np.prod(np.array(found, np.float64))) if all(found) else None


def _left_over(run: Run, asked: str) -> float | None:
    """What one product of settings leaves, divided by another: ``a*b=c``."""
    whole, part = (_product(run, names) for names in asked.split("="))
    return whole % part if whole and part else None


def _older(run: Run, asked: str) -> bool | None:
    """Whether the version of a library that the settings name lies before one: ``trl=0.15.0``."""
    package, _, below = asked.partition("=")
    found = _given(run, f"{package}_version")
    here, there = ([int(part) for part in re.findall(r"\d{1,6}", str(text))[:3]] for text in (found and found.value, below))
    return here < there if here else None


def value_of(run: Run, name: str) -> float | None:
    """The setting that a metric of the table of priors stands for, as given, or as logged where it does not move by itself."""
    setting = setting_of(name)
    given, curve = _setting(run, setting), logged_curve(run, name)
    if given is not None or curve is None:
        return given
    value = curve.numbers
    if setting == "learning_rate":  # the middle of the first half of a schedule
        return float(np.median(value[: max(3, value.size // 2)]))
    return float(value[0]) if np.ptp(value) <= 0.01 * abs(value[0]) else None


def setting_of(name: str) -> str:
    """The setting that a metric stands for."""
    return SETTING_OF.get(name, name.rpartition("/")[2])


def usual(run: Run, name: str) -> Prior | None:
    """What is usual for it under the circumstances, after warm-up."""
    return prior(name, circumstances(run, "late"))


def _side(run: Run, name: str) -> float | None:
    """Where it lies: 1 above what is usual, 2 above what is possible, below nothing likewise."""
    value, row = value_of(run, name), usual(run, name)
    return None if value is None or row is None or row.side(value) not in SIDES else SIDES.index(row.side(value)) - 2.0


def _one_update(run: Run) -> bool:
    """Whether the settings say that each batch is used for one update."""
    return run.settings.get("updates_per_batch", 1) == 1 and run.settings.get("minibatches") == 1


def _named(run: Run, asked: str) -> bool | None:
    """Whether what the user calls a metric matches: ``name=pattern``."""
    name, _, pattern = asked.partition("=")
    return re.search(pattern, run.curves[name].raw) is not None if name in run.curves else None


def _growth(curve: Curve) -> float:
    """How many times as large its values became."""
    first, last = (float(np.median(np.abs(part))) for part in (segments.opening(curve, 0.2), segments.final(curve)))
    return last / max(first, 1e-12)


def _way(run: Run, of: Callable[[Course, Course], float]) -> float | None:
    """Something of score and reward as a share of the way that the reward made."""
    held, train = (outcomes.course_or_none(curve(run)) for curve in (outcomes.held_out, outcomes.training))
    return None if held is None or train is None or train.last == train.start else of(held, train) / (train.last - train.start)


def _gained_since(run: Run, _: str) -> float | None:
    """By how many of the smallest changes that matter the reward gained since the score's best."""
    held, train = (outcomes.course_or_none(curve(run)) for curve in (outcomes.held_out, outcomes.training))
    if held is None or train is None or train.margin <= 0:
        return None
    return (train.last - float(np.interp(held.best_step, train.step, train.smoothed))) / train.margin


def _parted(run: Run, _: str) -> float | None:
    """By how many of the smallest changes that matter the reward of all samples gained more than that of those trained on."""
    whole, used = (outcomes.course_or_none(run.curves.get(name)) for name in ("reward/mean", "reward/used"))
    if whole is None or used is None:
        return None
    return (whole.last - whole.start - used.last + used.start) / max(whole.margin, used.margin, 1e-12)


def _outgrown(run: Run, name: str) -> float | None:
    """How many times as large an error became, beyond the square of the returns' growth, which it follows."""
    curve, reward = logged_curve(run, name), outcomes.training(run)
    if curve is None or curve.numbers.size < FEWEST:
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


def _person(run: Run, end: str) -> float | None:
    """An end of the interval of the share of pairs that the reward puts in the order of a person who scored samples."""
    found = agreement(scored(run)) if run.scores else {}
    return found["reward"][end] if "reward" in found else None


def _late_events(run: Run, kind: str, share: float = 0.05) -> float | None:
    """How many events of a kind came after the first part of the run."""
    if not run.events:
        return None
    after = run.first_step + share * (run.last_step - run.first_step)
    return float(sum(e.kind == kind and (e.step is None or e.step > after) for e in run.events))


OF_RUN: dict[str, Callable[[Run, str], float | None]] = {
    "setting": _setting,
    "given": lambda run, name: _given(run, name) is not None,
    "off": _is_off,
    "unset": _unset,
    "unlike": _unlike,
    "product": _product,
    "left_over": _left_over,
    "older": _older,
    "side": _side,
    "word": lambda run, asked: _worded(run, asked, lambda found: str(found.value).lower()),
    "key": lambda run, asked: _worded(run, asked, lambda found: found.key),
    "method": lambda run, names: str(circumstances(run, "late").method) in names.split("|"),
    "action": lambda run, kind: circumstances(run).action == kind,
    "rows": lambda run, _: max((c.step.size for c in run.curves.values()), default=0),
    "printed_step": lambda run, _: run.last_step if run.axis != "row" and run.step_unit not in (UNSAID, "epochs") else None,
    "done": lambda run, _: run.last_step / run.planned_steps if run.planned_steps else None,
    "told": lambda run, name: run.curves[name].note == TOLD if name in run.curves else None,
    "named": _named,
    "all_at": all_at,
    "value": value_of,
    "usual_low": lambda run, name: row.usual[0] if (row := usual(run, name)) is not None else None,
    "usual_high": lambda run, name: row.usual[1] if (row := usual(run, name)) is not None else None,
    "read": lambda run, kind: any(kind in name for name in run.formats),
    "followed": lambda run, _: _way(run, lambda held, train: float(np.quantile(held.value, 0.9)) - train.start),
    "apart_at_first": lambda run, _: _way(run, lambda held, train: abs(held.start - train.start)),
    "parted": _parted,
    "gained_since": _gained_since,
    **{fact.__name__: fact for fact in FACTS_OF_RUN},
    "draws": lambda _, name: segments.drawn(name),
    "parts": lambda run, family: len(parts_of(run, family)),
    "cost": lambda _, name: SUBTRACTED.search(name) is not None,
    "sampled": lambda run, _: run.rollouts["step"].nunique() if len(run.rollouts) else None,
    "like": lambda _, asked: re.search(asked.partition("=")[2], asked.partition("=")[0]) is not None,
    "broken": lambda run, names: len(broken(run, names)),
    "sound": lambda run, names: len(sound(run, names)),
    "blank": lambda run, names: len(blank(run, names)),
    "infinite": lambda run, names: all(np.isinf(c.value[-1]) for c in broken(run, names)),
    "gaps": lambda run, names: float(sum((~np.isfinite(c.value)).sum() for c in curves_of(run, names))),
    "framework": lambda run, name: name in (run.frameworks or ("None",)),
    "updates": lambda run, _: updates_per_batch(run),
    "calls": lambda run, names: settings_of(run).calls(*names.split("|")),
    "events": lambda run, kind: float(sum(kind in (e.kind, "any") for e in run.events)),
    "logged": lambda run, prefix: any(c.numbers.size > 1 for c in run.family(prefix).values()),
    "stepped": lambda run, _: outcomes.stepped(run),
    "once": lambda run, _: True if circumstances(run).updates == "one" or _one_update(run) else None,
    "trained": lambda run, kinds: bool({*kinds.split("|")} & {task(run).kind, task(run).base, *task(run).traits}),
    "outgrown": _outgrown,
    "since_best": _since_best,
    "late_events": _late_events,
    "person": _person,
    "restarted": part(restarted, 0),
    "restarted_at": part(restarted, 1),
    "turns": part(see_saw, 0),
    "swing": part(see_saw, 1),
    "resumed": part(resumed, 0),
    "breaks": lambda run, _: len(restarts(run)),
    "alone": lambda run, which: outcomes.lone_step(run, which) is not None,
    "alone_from": part(outcomes.lone_step, 2),
    "alone_to": part(outcomes.lone_step, 3),
    "alone_at": part(outcomes.lone_step, 1),
    "gpu": lambda run, name: FACTS[name](run),
    "gpu_share": lambda run, name: FACTS[name](run),
}
"""What may be asked of the run as a whole, beside the facts of ``facts.toml``."""
