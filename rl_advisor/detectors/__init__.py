"""One failure pattern a module or a row of its TOML files (``ROWS``); its docstring, or the row's page, is the manual page.

A row is a pattern that comes down to "statistic of a metric, bound, sentence" (``settings.conditions``)::

    when = ["fall pairs/chosen > 0.25 rise pairs/margin"]    every condition holds: present; a list of lists: one of the lists does
    unless = ["rose score"]                                  one of these holds: absent all the same
    perhaps = ["fall pairs/chosen > 0"]                      as ``when``, where that does not hold: unclear
    doubt = ["rose score"]                                   as ``when``, where that holds: unclear all the same
    of = ["parts reward/component/ > 1"]                     what must hold for there to be anything to ask: else not logged
    each = ["response/aborted", "reward/component/*"]        metrics, or those of a family, of which it is asked in turn, as ``it``
    link_of_each = true                                      the link is that of the metric asked, where that has one
    says = "{start pairs/chosen} at first, {end pairs/chosen} now"
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from math import isfinite
from types import ModuleType
from typing import Any

from rl_advisor.discovery import modules, table
from rl_advisor.features import TooFewPoints
from rl_advisor.finding import Answer, Evidence, Outcome, Role, manual_page, not_logged
from rl_advisor.run import Run
from rl_advisor.settings.conditions import OUTCOMES, Condition, View, named, ways
from rl_advisor.settings.of_run import OF_RUN, value_of
from rl_advisor.settings.of_samples import SAMPLES
from rl_advisor.settings.statistics import parts_of
from rl_advisor.vocabulary import METRICS, Link

OF_OUTCOME = "eval/score/*|reward/mean|reward/success|reward/used|reward/component/*|pairs/accuracy|pairs/loss"
"""What may be the outcome."""
ROWS = ("rows.toml", "parts.toml", "samples.toml", "machine.toml")
HEADINGS = ("Looks for", "Means", "Not to be confused with", "Next test", "Source")
LIKELIEST = (Outcome.PRESENT, Outcome.UNCLEAR, Outcome.ABSENT, Outcome.NOT_LOGGED)
"""Which answer counts where a row is asked of several metrics."""


@dataclass(frozen=True)
class Detector:
    """A failure pattern: what it is, what it tends to bring about, and how to look for it."""

    name: str
    link: Link
    role: Role
    needs: tuple[str, ...]
    """What must be logged; alternatives are joined by ``|``."""
    detect: Callable[[Run], Answer]
    text: str
    """The manual page."""
    weight: float = 1.0
    """How strongly it speaks when it is present: 1 speaks, 2 strongly, 3 all but settles (natural log of the odds)."""
    speaks: Mapping[str, float] = field(default_factory=dict)
    """Verdict -> what it adds to the logarithm of its odds, where that is not what its role says."""
    change: tuple[tuple[str, str], ...] = ()
    """What to turn in an experiment: a setting in our words, and the value or the share of the present one (empty: a switch)."""
    marks: Sequence[str] = ()
    """What else others need to know of it: that it is the outcome's ``fall``, that nothing is left to learn (``dead``), ..."""
    sign: Mapping[str, str] = field(default_factory=dict)
    """Metrics of which a single value outside of what is usual is its sign, and on which sides."""
    kinds: tuple[str, ...] = ()
    """The kinds of training of which it is asked; of all that learn by reward where it names none."""

    @property
    def brings(self) -> frozenset[str]:
        """The patterns that it tends to bring about."""
        return graph().get(self.name, frozenset())

    @property
    def page(self) -> dict[str, str]:
        """The manual page by its headings, with the first sentence as the title."""
        return manual_page(self.text, HEADINGS)


@cache
def patterns() -> Mapping[str, Detector]:
    """Every pattern by its name, outside-in along the loop."""
    order = {link: place for place, link in enumerate(Link)}
    found = [*map(_of_module, modules("rl_advisor.detectors", "LINK", "NEEDS", "detect")), *map(_of_row, rows(), rows().values())]
    return {d.name: d for d in sorted(found, key=lambda d: (order[d.link], d.name))}


@cache
def rows() -> Mapping[str, Mapping[str, Any]]:
    """The patterns that are data."""
    return {name: row for file in ROWS for name, row in table(__file__, file).items()}


@cache
def marked(mark: str) -> tuple[str, ...]:
    """The patterns that bear a mark, outside-in along the loop."""
    return tuple(name for name, d in patterns().items() if mark in d.marks)


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """What each pattern tends to bring about: the one graph, of ``brings.toml``."""
    return {cause: frozenset(effects) for cause, effects in table(__file__, "brings.toml").items()}


def _of_module(module: ModuleType) -> Detector:
    """The detector that a module defines."""
    own = {
        name: getattr(module, name.upper()) for name in ("weight", "speaks", "change", "kinds", "marks") if hasattr(module, name.upper())
    }
    name = module.__name__.rpartition(".")[2]
    return Detector(name, module.LINK, module.ROLE, module.NEEDS, module.detect, module.__doc__ or "", **own)


def _need(metric: str) -> str:
    """What must be logged for a metric of a row."""
    if metric.startswith(SAMPLES):
        return "rollouts"
    return "eval/score/*" if metric == "score" else OF_OUTCOME if metric in OUTCOMES else metric


def _of_row(name: str, row: Mapping[str, Any]) -> Detector:
    """The detector that a row stands for; what it looks at it needs, but for what only denies it."""
    metrics = [c.metric for way in ways(row["when"]) for c in way if c.statistic not in OF_RUN]
    one = "|".join(map(_need, row.get("each", ())))
    needs = dict.fromkeys(one if m == "it" else _need(m) for m in metrics)
    own = {key: row[key] for key in ("weight", "speaks", "marks", "sign") if key in row}
    change = tuple((str(ours), str(to)) for ours, to in row.get("change", {}).items())
    link, role, asked = Link(row["link"]), Role(row["role"]), tuple(row.get("needs", needs))
    return Detector(
        name, link, role, asked, partial(_detect, row=row), row["page"], change=change, kinds=tuple(row.get("kinds", ())), **own
    )


def _detect(run: Run, row: Mapping[str, Any]) -> Answer:
    """What a row answers of a run: of the metrics that it is asked of in turn, the one that shows it."""
    every = [name for one in row.get("each", ()) for name in (parts_of(run, one[:-1]) if one.endswith("/*") else [one])]
    views = [v for v in map(partial(View, run), every) if v.it.startswith(SAMPLES) or v.curve("it") or value_of(run, v.it) is not None]
    answers, short = [], TooFewPoints("nothing that it is asked of has enough points")
    for view in views if "each" in row else [View(run)]:
        try:
            answers.append(_of_view(view, row))
        except TooFewPoints as error:
            short = error
    if not answers and "lacks" in row:
        return not_logged(f"{row['lacks']}.")
    if not answers:
        raise short
    return min(answers, key=lambda a: LIKELIEST.index(a.outcome))


def _of_view(view: View, row: Mapping[str, Any]) -> Answer:
    """What a row answers of one metric, or of the run."""
    every = [c for way in (*ways(row["when"]), *ways(row.get("unless", ()))) for c in way]
    if any(c.beside and c.beside[0] == "setting" and view.number(*c.beside) is None for c in every):
        return not_logged("The setting that it is held against is not given.")
    found = {(c.statistic, c.metric): view.measured(c.statistic, c.metric) for c in every}
    said = {one: view.told(*one) for one in named(row["says"])}
    measures = {" ".join(one): value for one, value in {**found, **said}.items() if value is not None and isfinite(value)}
    told = view.true(row["when"])
    if not view.so(row.get("of", [[]])):
        return not_logged(f"{row.get('lacks', 'What would tell is not logged')}.")
    text = view.says(row["says"]) if told or None not in said.values() else "what is logged of it does not show it"
    outcome = _outcome(view, row, told)
    onset = view.since(row["since"]) if outcome is Outcome.PRESENT and "since" in row else None
    but = f"; {row.get('but', 'what would tell is not logged')}" if outcome is Outcome.UNCLEAR else ""
    shows = f": {view.says(row['shows'])}" if outcome is Outcome.PRESENT else but
    own = METRICS[view.it].link if row.get("link_of_each") and view.it in METRICS else None
    return Answer(outcome, f"{text}{shows}.", onset, measures, _where(view, every), own)


def _outcome(view: View, row: Mapping[str, Any], told: bool | None) -> Outcome:
    if any(view.holds(c) for way in ways(row.get("unless", ())) for c in way):
        return Outcome.ABSENT
    if told:
        return Outcome.UNCLEAR if view.so(row.get("doubt", ())) else Outcome.PRESENT
    return Outcome.UNCLEAR if told is None or view.true(row.get("perhaps", ())) else Outcome.ABSENT


def _where(view: View, every: Sequence[Condition]) -> tuple[Evidence, ...]:
    """Where to look for what was asked: curves, the machine, the samples."""
    curves = dict.fromkeys(
        curve for c in every if c.statistic not in OF_RUN.keys() - {"alone"} and (curve := view.curve(c.metric)) is not None
    )
    where = [Evidence(c.name, float(c.step[0]), float(c.step[-1])) for c in curves]
    if view.it and not curves and not view.it.startswith(SAMPLES):
        where.append(Evidence(view.it, view.run.first_step, view.run.last_step))
    if any(c.statistic.startswith("gpu") for c in every):
        where.append(Evidence("telemetry" if len(view.run.telemetry) else "time/phase/*", view.run.first_step, view.run.last_step))
    if len(view.run.rollouts) and any(view.named(c.metric).startswith(SAMPLES) for c in every):
        rows = view.run.rollouts["step"]
        where.append(Evidence("rollouts", float(rows.min()), float(rows.max())))
    return tuple(where)
