"""The story of a run: what an answer says first, the same facts in the same words at every door."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from rl_advisor.answers.story import sentences
from rl_advisor.answers.story.chain import chain, moves, named
from rl_advisor.answers.story.quantities import named as named_in
from rl_advisor.answers.story.quantities import outcome_quantities, own_names, renamed, told_curves
from rl_advisor.answers.story.rows import rows
from rl_advisor.answers.story.surroundings import missing, second_call, settings
from rl_advisor.curves import goal
from rl_advisor.finding import Assessment
from rl_advisor.judgement.slowness import slowest
from rl_advisor.output import Answer
from rl_advisor.output.wording import WORDS, clause, listed, sentence
from rl_advisor.run import Run

EFFECTS, ALSO, GAPS = 4, 2, 3
"""Effects, open findings, and parts that could not be read, that are named at once."""


def tell(run: Run, a: Assessment) -> Answer:
    """What is told of a run under an assessment, as plain values; metrics go by our names, which ``in_own_names`` turns into the run's own.

    ``facts`` is what every door shows below the call, by its label, in the order in which to read it: a new fact is a row of ``_facts``.
    ``also`` are open questions beside the chain; ``curves`` the outcome first, then the cause's own metric where one is known, then the
    usual, and ``rows`` their numbers; ``names`` our names and the run's own.
    """
    told = chain(a)
    cited = [str(e["metric"]) for e in told.cause.evidence] if told.cause is not None else []
    metric = next((m for m in cited if m in run.curves), "")
    curves = told_curves(run, metric)
    moved = a.verdict != "not_learning"  # the best of a curve that never moved is luck
    outcome = [q.said if moved else q.went for q in outcome_quantities(run)] or [sentences.nothing(run)]
    return {
        "framework": ", ".join(run.frameworks),
        "progress": sentences.progress(run, a),
        "verdict": sentences.verdict(a),
        "call": sentences.call(run, a),
        "facts": {label: text for label, text in _facts(run, a, metric, outcome) if text},
        "outcome": outcome,
        "also": [f"{named(f)}: {clause(f.statement)}" for f in told.open],
        "settings": settings(run),
        "curves": [
            asdict(q) | {"last_said": q.spelled(q.last)} for q in sorted(curves, key=lambda q: (q is not curves[0], q.metric != metric))
        ],
        "rows": rows(run, a.findings),
        "not_logged": missing(run),
        "not_read": [f"{gap.where}: {gap.why}" for gap in run.gaps[:GAPS]],
        "next_call": second_call(run, a),
        "names": own_names(run),
    }


def _facts(run: Run, a: Assessment, metric: str, outcome: Iterable[str]) -> Iterable[tuple[str, str]]:
    """What to do, what broke, what came of it beside outcome and ``metric``, what to keep; the reason where no cause is one."""
    told, do, cause = chain(a), sentence(a.next_experiment.do), sentences.cause(a)
    slow = slowest(a.findings)
    effects = moves(run, told.effects, a.onset.step if a.onset else None, {metric, *(q.metric for q in outcome_quantities(run))})
    return (
        ("In words", a.words),
        ("Kind", sentences.kind(run)),
        ("Do now", do),
        ("Limits" if a.verdict in sentences.SOUND else "Cause", cause),
        ("Effect", listed(effects, EFFECTS)),
        ("Score", "; ".join(outcome)),
        ("Goal", goal.said(run)),
        ("Keep", sentences.keep(run, a)),
        ("Beside", sentences.beside(a)),
        ("Why", "" if cause else sentence(a.why)),
        ("At odds", next((line.rstrip(".") for line in a.at_odds if clause(line) not in cause and clause(line) not in do), "")),
        ("Also", listed([named(f) for f in told.open], ALSO)),
        ("Slow", slow.statement if slow is not None and slow.statement not in do else ""),
    )


def in_own_names(run: Run, a: Assessment) -> tuple[Assessment, Answer]:
    """An assessment and what is told of it in the run's own metric names; what a program reads (``metric``) stays ours."""
    names = own_names(run)
    return named_in(a, names), renamed(tell(run, a), names)


LABELS = {"Limits": "What limits it", "Cause": "What broke first", "Effect": "Then", "Do now": "Next"}
"""What a fact begins with in a paragraph, where that is not its label."""
ORDER = ("Answer", "Stopped", "Verdict", "Score", "Limits", "Cause", "Effect", "Checked", "Goal", "Slow", "Keep", "Call", "Do now", "Read")
"""What an answer tells, of a run or of a few pasted rows, in the order in which to read it."""


def in_order(facts: Mapping[str, Iterable[str]]) -> str:
    """Labelled sentences in the one order of every answer; what stands there already is not said again."""
    told = ""
    for said in (said for label in ORDER for said in facts.get(label, ()) if said):
        told += f" {said}" if said not in told else ""
    return told.strip()


def paragraph(story: Answer, a: Assessment) -> str:
    """The story in five to eight sentences."""
    why, facts = a.why.rstrip("."), {label: text.rstrip(".") for label, text in story["facts"].items()}
    score = "; ".join(re.sub(r"^(\S+) from ", r"\1 went from ", line) for line in story["outcome"])
    keep = f"Keep {facts.get('Keep')}" if a.best_checkpoint.path else facts.get("Keep", "")
    told = {label: [f"{named}: {facts[label]}."] for label, named in LABELS.items() if label in facts}
    told |= {label: [sentence(facts[label])] for label in ("Goal", "Slow") if label in facts}
    told |= {"Verdict": [WORDS["verdict"][a.verdict]["opening"] + (f": {why}." if why else ".")], "Score": [sentence(score)]}
    return in_order(told | {"Keep": [sentence(keep)], "Call": [story["call"]]})
