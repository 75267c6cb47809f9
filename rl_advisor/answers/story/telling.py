"""The story of a run: what an answer says first, the same facts in the same words at every door."""

from dataclasses import dataclass, replace
from typing import Any

from rl_advisor.answers.story import sentences
from rl_advisor.answers.story.chain import Chain, Effect, chain, effects, named, statement
from rl_advisor.answers.story.quantities import Quantity, logged_at, outcome_quantities, own_names, sketched
from rl_advisor.answers.story.surroundings import could_change, missing, second_call, settings, unnamed
from rl_advisor.assessment import Assessment, QuantityView
from rl_advisor.finding import Outcome
from rl_advisor.output.wording import listed, sentence
from rl_advisor.run import Run

EFFECTS, AT_ODDS, ALSO = 4, 1, 2
"""Effects, facts at odds and open findings that are named at once."""


@dataclass(frozen=True)
class Story:
    """What is told of a run, in the order in which it is told."""

    framework: str
    progress: str
    verdict: str
    call: str
    do: str
    cause: str
    effects: tuple[str, ...]
    outcome: tuple[str, ...]
    keep: str
    at_odds: tuple[str, ...]
    also: tuple[str, ...]
    """Present beside the chain: open questions."""
    beside: str
    """How it stands beside earlier sound runs; empty where none were named, or where that is the cause."""
    settings: dict[str, str]
    curves: tuple[Quantity, ...]
    """The outcome first, then the cause's own metric where one is known, then the usual."""
    not_logged: tuple[str, ...]
    could_change: tuple[str, ...]
    """Of these the one or two that could change the judgement."""
    unnamed: tuple[str, ...]
    """Curves whose meaning is not known, and that moved: they may say what ours cannot."""
    unclear: int
    """Patterns that could not be decided."""
    next_call: str
    words: str
    """What an advisor that is not ours says in its own words; empty for ours, whose words are these fields."""
    names: dict[str, str]
    """Our metric names and the run's own."""
    facts: tuple[tuple[str, str], ...] = ()
    """What every door shows below the call: a label and its text, in the order in which to read them. A new fact is a row here."""


def tell(run: Run, a: Assessment) -> Story:
    """The story of a run under an assessment; metrics go by our names, which ``naming.renamed`` turns into the run's own."""
    told = chain(a)
    metric = _metric_of(run, told)
    curves = sketched(run, metric)
    story = Story(
        framework=", ".join(run.frameworks),
        progress=sentences.progress(run, a),
        verdict=sentences.verdict(a),
        call=sentences.call(a),
        do=sentences.do(a),
        cause=sentences.cause(a, told),
        effects=tuple(e.said for e in _effects(run, a)),
        outcome=tuple(q.said for q in outcome_quantities(run)) or (sentences.nothing(run),),
        keep=sentences.keep(run, a),
        at_odds=tuple(a.at_odds),
        also=tuple(f"{named(f)}: {statement(f)}" for f in told.open),
        beside=sentences.beside(a, told),
        settings=settings(run),
        curves=tuple(_foremost(curves, metric)),
        not_logged=tuple(missing(run)),
        could_change=tuple(could_change(run, a)),
        unnamed=tuple(unnamed(run)),
        unclear=sum(f.outcome == Outcome.UNCLEAR.value for f in a.findings),
        next_call=second_call(run, a),
        words="",
        names=own_names(run),
    )
    whole = replace(story, words=a.summary.removeprefix(sentences.paragraph(story, a)).strip())
    return replace(whole, facts=facts(whole, a))


def facts(story: Story, a: Assessment) -> tuple[tuple[str, str], ...]:
    """What to do, what broke, what came of it, what to keep; the reason where no cause is one."""
    rows = (
        ("In words", story.words),
        ("Do now", story.do),
        ("Limits" if a.verdict in sentences.SOUND else "Cause", story.cause),
        ("Effect", listed(list(story.effects), EFFECTS)),
        ("Score", "; ".join(story.outcome)),
        ("Keep", story.keep),
        ("Beside", story.beside),
        ("Why", "" if story.cause else sentence(a.why)),
        ("At odds", "; ".join(line.rstrip(".") for line in story.at_odds[:AT_ODDS])),
        ("Also", listed([line.partition(":")[0] for line in story.also], ALSO)),
    )
    return tuple((label, text) for label, text in rows if text)


def _effects(run: Run, a: Assessment) -> list[Effect]:
    """The effects that are not told by the outcome or by the cause's own metric."""
    told = chain(a)
    shown = {q.metric for q in outcome_quantities(run)} | {_metric_of(run, told)}
    return effects(run, told.effects, a.onset.step if a.onset else None, shown)


def quantities(run: Run, a: Assessment) -> list[QuantityView]:
    """Every quantity that the story says, as values."""
    told = sentences.trusted(run, a)
    at = logged_at(run.curves.get(told.metric), a.best_checkpoint.step) if told is not None else None
    outcome = [q.view(at if told is not None and q.metric == told.metric else None) for q in outcome_quantities(run)]
    moves = [QuantityView(metric=e.move.metric, before=e.move.before, after=e.move.after) for e in _effects(run, a) if e.move is not None]
    return outcome + moves


def completed(run: Run, a: Assessment) -> Assessment:
    """The assessment with its quantities and its summary."""
    whole = a.model_copy(update={"quantities": quantities(run, a)})
    return whole.model_copy(update={"summary": sentences.paragraph(tell(run, whole), whole)})


def _metric_of(run: Run, told: Chain) -> str:
    """The metric that shows the cause; empty where none of the run's does."""
    cited = [str(e["metric"]) for e in told.cause.evidence] if told.cause is not None else []
    return next((m for m in cited if m in run.curves), "")


def _foremost(curves: list[Quantity], metric: str) -> list[Quantity]:
    """The outcome, the cause's metric, then the others."""
    order = {q.metric: i for i, q in enumerate(curves)}
    return sorted(curves, key=lambda q: (order[q.metric] > 0, q.metric != metric, order[q.metric]))


def as_json(story: Story) -> dict[str, Any]:
    """The story as plain values."""
    from dataclasses import asdict

    told = asdict(story)
    return told | {"curves": [row | {"last_said": q.spelled(q.last)} for row, q in zip(told["curves"], story.curves, strict=True)]}
