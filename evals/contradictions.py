"""Where an answer denies itself: kinds of contradiction between a verdict and its reasons, evidence, cause, call, action and figures.

Each kind is a function of the run and its assessment that says what contradicts what, and looks at the words and numbers that a reader
sees, not at how they came about. ``python -m evals.judged FOLDER`` counts them on labelled runs of strangers, and
``tests/test_contradictions.py`` on runs of the corpora, at their end and at half.
"""

import re
from collections.abc import Iterator

import numpy as np
from rl_advisor.answers.story.chain import cause_of
from rl_advisor.answers.story.telling import tell
from rl_advisor.curves.performance import performance
from rl_advisor.finding import Assessment
from rl_advisor.run import Curve, Floats, Run

DENIED: dict[str, str] = {
    "improving": r"no one way|hardly moved|\bfell (?:over|from|steadily)|next to nothing|has stayed|never clearly left|where it started",
    "plateaued": r"rose (?:steadily )?over|still rises|gained faster|fell (?:over|steadily)|never clearly left|ends where it started",
    "not_learning": r"\brose (?:from|over|steadily)|still rises|gained faster",
    "degrading": r"rose (?:over|steadily)|still rises|ends near its best|has stayed|never clearly left",
    "collapsed": r"rose (?:over|steadily)|still rises|ends near its best|has stayed|never clearly left",
    "unstable": r"swings little|still rises|has stayed|never clearly left",
}
"""What the outcome cannot have done under a verdict, in the words in which answers say it."""
BACKED: dict[str, str] = {
    "improving": r"rose (?:steadily|over its last)|gained faster|still rises",
    "plateaued": r"ends near its best|hardly moved over its last|next to nothing|has stayed",
    "not_learning": r"hardly moved|never clearly left|ends where it started",
    "degrading": r"fell over its last|below its best|of its range lower",
    "collapsed": r"fell over its last|below its best|of its range lower",
    "unstable": r"\bswings|goes up and down",
}
"""What speaks for a verdict, and so not against it."""
SOUND, FALLS = ("improving", "plateaued"), ("degrading", "collapsed")
HALF, HIGH_POINTS, EARLY = 0.5, 10, 0.15
"""Weight that a headline needs, points that high confidence needs, and the share of a plan before which there is none."""
REASONS = ("solved", "finished", "price")
"""Reasons for which a run that improves is stopped."""


def contradictions(run: Run, a: Assessment) -> list[tuple[str, str]]:
    """Every kind of contradiction in an answer, with the words that show it."""
    return [(kind.__name__, says) for kind in KINDS for says in kind(run, a)]


def why_denies_the_verdict(_: Run, a: Assessment) -> Iterator[str]:
    """The reason says what cannot be under the verdict."""
    if a.verdict in DENIED and re.search(DENIED[a.verdict], a.why):
        yield f"{a.verdict}: {a.why}"


def evidence_denies_the_verdict(_: Run, a: Assessment) -> Iterator[str]:
    """A piece that is counted for the verdict says what cannot be under it."""
    for piece in a.evidence:
        if piece.for_ == a.verdict and piece.weight > 0 and a.verdict in DENIED and re.search(DENIED[a.verdict], piece.says):
            yield f"{a.verdict} +{piece.weight}: {piece.says}"


def against_what_speaks_for_it(_: Run, a: Assessment) -> Iterator[str]:
    """What is told against a rival speaks for it."""
    for rival in a.rivals:
        if rival.verdict in BACKED and re.search(BACKED[rival.verdict], rival.against):
            yield f"against {rival.verdict}: {rival.against}"


def odds_with_itself(_: Run, a: Assessment) -> Iterator[str]:
    """What stands at odds with the verdict backs it, or is its own reason."""
    for line in a.at_odds:
        if (a.verdict in BACKED and re.search(BACKED[a.verdict], line)) or line in a.why:
            yield f"{a.verdict} at odds: {line}"


def stopped_while_improving(_: Run, a: Assessment) -> Iterator[str]:
    """It improves and is stopped, and no words say why."""
    if a.verdict == "improving" and a.call == "stop" and a.call_reason not in REASONS:
        yield f"improving, stop {a.call_reason}, p {a.p_continue_pays}"


def stopped_though_it_pays(_: Run, a: Assessment) -> Iterator[str]:
    """It is stopped for want of a gain that is likely."""
    if a.call == "stop" and a.call_reason == "no_gain" and a.p_continue_pays >= HALF:
        yield f"{a.verdict}, stop {a.call_reason}, p {a.p_continue_pays}"


def continued_without_hope(_: Run, a: Assessment) -> Iterator[str]:
    """It goes on although it stands still or is broken, and no rival says why."""
    hope = a.probabilities.get("improving", 0.0)
    if (
        a.call == "continue"
        and a.call_reason == "pays"
        and (a.p_continue_pays < 0.3 or (a.verdict in ("not_learning", *FALLS) and hope < 0.1))
    ):
        yield f"{a.verdict}, continue, p {a.p_continue_pays}"


def undecided_yet_known(_: Run, a: Assessment) -> Iterator[str]:
    """Nothing is said to be measured, and much is known."""
    if a.call_reason == "not_measured" and (a.p_continue_pays > 0.8 or (a.verdict != "undecidable" and a.confidence == "high")):
        yield f"{a.verdict}, {a.call} {a.call_reason}, p {a.p_continue_pays}"


def collapsed_at_its_best(run: Run, a: Assessment) -> Iterator[str]:
    """It is called collapsed, and the last logged fifth of the curve that the reason names stands as high as any fifth."""
    named = next((c.curve for c in (performance(run).held, performance(run).train) if c is not None and a.why.startswith(c.name)), None)
    x = named.finite()[1] if named is not None else outcome(run)
    if a.verdict == "collapsed" and x.size >= 10:
        parts = [float(np.median(p)) for p in np.array_split(x, 5)]
        if np.ptp(parts) > 0 and parts[-1] >= max(parts):
            yield f"fifths of the outcome: {[round(p, 3) for p in parts]}"


def learns_nothing_and_rises(run: Run, a: Assessment) -> Iterator[str]:
    """It is called not learning, and its last fifth lies wholly above its first."""
    x = outcome(run)
    if a.verdict == "not_learning" and x.size >= 15:
        first, *_, last = np.array_split(x, 5)
        if np.quantile(last, 0.1) > np.quantile(first, 0.9) and np.median(last) - np.median(first) > 0.5 * np.ptp(x):
            yield f"from {np.median(first):.3g} to {np.median(last):.3g}"


def cause_of_what_is_sound(_: Run, a: Assessment) -> Iterator[str]:
    """Something is said to have broken first in a run that is sound."""
    if a.verdict in SOUND and ("What broke first" in a.summary):
        yield f"{a.verdict}: {a.summary.partition('What broke first')[2][:120]}"


def cause_says_the_outcome_fell(_: Run, a: Assessment) -> Iterator[str]:
    """A cause is told by a fall of an outcome that rises."""
    found = cause_of(a)
    if a.verdict == "improving" and found and re.search(r"outcome (?:fell|did not rise|does not rise)", found.statement):
        yield found.statement


def cause_after_its_effect(_: Run, a: Assessment) -> Iterator[str]:
    """What is said to have broken first began clearly after the fall."""
    falls = [f.onset for f in a.findings if f.pattern in ("collapse", "decline") and f.outcome == "present" and f.onset]
    if a.verdict in FALLS and a.onset and falls and a.onset.low > min(f["high"] for f in falls):
        yield f"broke at {a.onset.low:.0f}, fell at {min(f['high'] for f in falls):.0f}"


def falls_and_rises(_: Run, a: Assessment) -> Iterator[str]:
    """One finding says that the outcome declined, another that it still rises."""
    there = {f.pattern for f in a.findings if f.outcome == "present"}
    if {"decline", "still_improving"} <= there:
        yield "decline and still_improving"


def onset_outside(run: Run, a: Assessment) -> Iterator[str]:
    """It broke before the log begins, or after it ends."""
    first = min((float(c.step[0]) for c in run.curves.values() if c.step.size), default=0.0)
    if a.onset and not (min(first, 0) - 1 <= a.onset.low <= a.onset.step <= a.onset.high <= run.last_step + 1):
        yield f"onset {a.onset} of {first:.0f} to {run.last_step:.0f}"


def repairs_something_else(run: Run, a: Assessment) -> Iterator[str]:
    """The experiment is on a pattern that is not the cause."""
    found, told = cause_of(a), re.match(r"It shows what (.+?) predicts", a.next_experiment.expect_if_right)
    if told and found is not None and told[1] != found.pattern.replace("_", " "):
        yield f"cause {found.pattern}, experiment on {told[1]}"
    if told and found is None and a.first_broken_link == "none":
        yield f"no cause, experiment on {told[1]} ({run.name})"


def repairs_what_is_stopped(_: Run, a: Assessment) -> Iterator[str]:
    """The next step says the opposite of the call."""
    do = a.next_experiment.do
    if (a.call == "continue" and re.match("Stop here", do)) or (a.call == "stop" and re.match("Go on ", do)):
        yield f"{a.call}: {do[:80]}"


def two_best_steps(run: Run, a: Assessment) -> Iterator[str]:
    """What is kept, what drifts since the best, and the reason name different best steps."""
    told = {float(x) for text in (a.risk, a.why, a.best_checkpoint.why) for x in re.findall(r"best (?:step \(|at step )(\d+)", text)}
    if a.best_checkpoint.path is None and a.best_checkpoint.step is not None and "best at" in a.best_checkpoint.why:
        told.add(float(a.best_checkpoint.step))
    if len(told) > 1 and max(told) - min(told) > 0.02 * run.last_step:
        yield f"best steps {sorted(told)}"


def high_on_few_points(run: Run, a: Assessment) -> Iterator[str]:
    """High confidence on a handful of points, or early in a plan."""
    n = outcome(run).size
    if a.confidence == "high" and (n < HIGH_POINTS or (a.planned_steps and a.step < EARLY * a.planned_steps and n < 3 * HIGH_POINTS)):
        yield f"high on {n} points, {a.step}/{a.planned_steps}"


def headline_without_weight(run: Run, a: Assessment) -> Iterator[str]:
    """The headline gives a verdict that less than half of the weight speaks for."""
    told = tell(run, a)["verdict"]
    if a.probabilities and a.verdict != "undecidable" and max(a.probabilities.values()) < HALF and not told.lower().startswith("unclear"):
        yield told


def not_the_likeliest(_: Run, a: Assessment) -> Iterator[str]:
    """The verdict is not the likeliest of its own probabilities, or not in its own set."""
    likely = max(a.probabilities, key=lambda v: a.probabilities[v], default=a.verdict)
    if a.verdict not in (likely, "undecidable") or a.verdict not in (getattr(a, "verdict_set", None) or [a.verdict]):
        yield f"{a.verdict}, likeliest {likely}"


def said_twice(_: Run, a: Assessment) -> Iterator[str]:
    """The same sentence stands twice among the evidence, or is both for and against."""
    said = [piece.says for piece in a.evidence]
    yield from sorted({s for s in said if said.count(s) > 1})


def from_x_to_x(_: Run, a: Assessment) -> Iterator[str]:
    """Something went from a value to the same value."""
    for text in (a.why, *(f.statement for f in a.findings if f.outcome == "present")):
        told = "no gain" not in text and re.search(
            r"(?:rose|fell|went|grew|moved|dropped)\b[^;]{0,40}? from (?:about )?(-?[\d.]+e?-?\d*\s?%?) to (?:about )?\1(?![\d.])", text
        )
        if told:
            yield told[0]


def broken_for_good_and_back(run: Run, a: Assessment) -> Iterator[str]:
    """The weights are said to be broken for good, and the outcome is finite and better after that."""
    found = cause_of(a)
    if found is None or found.link != "numerics" or found.onset is None or "for good" not in found.statement:
        return
    curve = outcome_curve(run)
    if curve is not None:
        step, x = curve.finite()
        before, after = x[step <= found.onset["high"]], x[step > found.onset["high"]]
        if before.size and after.size >= 5 and np.median(after[-5:]) > before.max():
            yield f"{found.statement[:100]}; then {np.median(after[-5:]):.3g} over {before.max():.3g}"


def never_finite_is_broken(run: Run, a: Assessment) -> Iterator[str]:
    """A metric that was never finite is told as a break of the weights."""
    found = cause_of(a)
    named = [str(e["metric"]) for e in found.evidence] if found is not None and found.link == "numerics" else []
    for name in named:
        if name in run.curves and not run.curves[name].finite()[1].size:
            yield f"{name} was never finite"


def outcome_curve(run: Run) -> Curve | None:
    """The curve that the verdict speaks of."""
    counts = performance(run).counts
    return counts.curve if counts is not None else None


def outcome(run: Run) -> Floats:
    """Its finite values."""
    curve = outcome_curve(run)
    return curve.finite()[1] if curve is not None else np.empty(0)


KINDS = (
    why_denies_the_verdict,
    evidence_denies_the_verdict,
    against_what_speaks_for_it,
    odds_with_itself,
    stopped_while_improving,
    stopped_though_it_pays,
    continued_without_hope,
    undecided_yet_known,
    collapsed_at_its_best,
    learns_nothing_and_rises,
    cause_of_what_is_sound,
    cause_says_the_outcome_fell,
    cause_after_its_effect,
    falls_and_rises,
    onset_outside,
    repairs_something_else,
    repairs_what_is_stopped,
    two_best_steps,
    high_on_few_points,
    headline_without_weight,
    not_the_likeliest,
    said_twice,
    from_x_to_x,
    broken_for_good_and_back,
    never_finite_is_broken,
)
