"""What a few pasted lines say: what they are, whether each number is normal, what they prove, the likely causes, and what to ask back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rl_advisor.answers.explain.answering import Asked, answered, how_it_goes, is_normal, of_task, question_in, where_time_goes
from rl_advisor.answers.explain.metrics import metrics
from rl_advisor.answers.explain.pasted import SET, prose
from rl_advisor.answers.explain.procedures import asked_for, in_english, to_paste
from rl_advisor.answers.explain.told import LENGTH, settings_said
from rl_advisor.answers.explain.words import explain_word
from rl_advisor.answers.explain.written import Coverage, coverage
from rl_advisor.answers.spot_check import of_samples
from rl_advisor.answers.story.quantities import renamed
from rl_advisor.answers.story.telling import in_order
from rl_advisor.answers.templates import sentences
from rl_advisor.curves.task import task
from rl_advisor.detectors import patterns
from rl_advisor.finding import Cause, Finding, Outcome, Role
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.diagnosis import role_of
from rl_advisor.judgement.proofs import FEW as ENOUGH
from rl_advisor.judgement.proofs import cause, proofs, question, values
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.proven import experiment_on, faults
from rl_advisor.judgement.settings_to_change import usual_value
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.output.wording import counted, percent, plain, sentence
from rl_advisor.run import Run
from rl_advisor.settings.of_run import TOLD
from rl_advisor.vocabulary import Link

NOTHING = (
    "I found no metrics, settings or errors in this text. Paste the lines that the trainer logs (a few rows are enough),"
    " the traceback, or the launch command."
)
MOST_CAUSES, MOST_QUESTIONS, TALK = 4, 3, 4
SENTENCE = 5
"""Words for each number that a sentence beside rows has, and a row with long names has not."""
PROVEN = ("settings", "warnings", "rows", "values")
"""What makes a fault certain, and not only found or possible."""
SURE = 0.75
"""Probability from which a verdict on pasted rows is said as one."""


@dataclass(frozen=True)
class Explained:
    """All that was found in the lines."""

    rows: Rows
    read: Coverage
    told: Sequence[Mapping[str, Any]]
    """What each metric is."""
    proven: Sequence[Finding]
    judged: Judged | None
    """What the judge says of the rows, where they are enough."""
    faults: Sequence[Finding]
    answer: str
    """What was asked, answered."""
    unseen: Sequence[str]
    """What was not looked at."""
    advised: bool
    """Whether a procedure answers, and there are no rows to say more."""


def a_word(text: str, question: str = "") -> dict[str, Any] | None:
    """What a single word is: a pattern, check, verdict or metric, the question about it answered first; None for any other text."""
    word = explain_word(text) if len(text) < 80 and len(text.split()) <= 3 else None
    if word is None:
        return None
    word["summary"] = f"{answered(Asked(question, Rows(Run(name=text)), (), ()))} {word['summary']}".strip()
    return {"recognised": f"{word['kind']} {word['word']}", "metrics": [], "proven": [], "causes": [], "ask": [], **word}


def explain_run(run: Run, text: str = "", question: str = "") -> dict[str, Any]:
    """What the rows of a run say, as plain JSON in its own names; ``text`` is what they were read from, with all that the rows lack."""
    question, text = in_english(question), in_english(text)
    run = replace(run, settings={**settings_said(question), **run.settings})
    rows, read, asked = Rows(run), coverage(run, text), question or question_in(text)
    judged, found = _judged(rows)
    proven = proofs(run)
    told = metrics(rows, proven)
    wrong = faults(run, text, [_value(run, t) for t in told if t["normal"] == "broken"], found)
    crash = next((f for f in wrong if f.seen_in == "crash"), None)
    read_here = [c for n, c in run.curves.items() if c.explained and not SET.search(n)]
    logged = len(read_here) > TALK or any(c.note != TOLD or c.step.size > 1 for c in read_here)
    asked_text = f"{question}\n{text[:LENGTH]}".lstrip()
    words = question if any(f.seen_in == "warnings" for f in wrong) else prose(asked_text, SENTENCE if logged else 0)
    steps = (
        None
        if (crash and crash.about[1]) or (logged and not asked)
        else asked_for(f"{rows.around.method} {words}", asked_text, beside=logged)
    )
    answer, figures = _answer(Asked(asked, rows, told, proven), steps), _figures(rows, read)
    if logged and asked and not (answer or any(f.there for f in wrong)) and (steps := asked_for(words, asked_text)):
        answer = f"{steps['title']}."
    e = Explained(rows, read, told, proven, judged, wrong, answer, sentences("not_looked_at", figures), bool(steps) and not logged)
    nothing = not (run.curves or run.config or wrong)
    said: dict[str, Any] = {
        "recognised": "; ".join(sentences("recognised", figures)) or "no metrics, no settings and no error message",
        "read": asdict(read),
        "metrics": told,
        "proven": [f.statement for f in _certain(e) if f.seen_in != "values"] + [p.statement for p in proven if not p.there],
        "causes": _causes(e),
        "not_looked_at": e.unseen,
        "steps": steps["steps"] if steps else [],
        "ask": _ask(e),
        "summary": of_samples(run) or (answer or f"{NOTHING} {to_paste(asked_text)}".strip() if nothing else in_order(_facts(e))),
    }
    if crash:
        error, where = crash.about
        said["crash"] = {"error": error, "where": where, "means": crash.statement, "do": crash.causes[0].tell_apart}
    return renamed(said, {c.name: c.raw for c in run.curves.values() if c.name != c.raw})  # type: ignore[no-any-return]


def _answer(asked: Asked, steps: Mapping[str, Any] | None) -> str:
    """The answer to the question: whether the values are normal that it names, then what the procedure says."""
    said = answered(asked, advised=bool(steps))
    known = "" if said or asked.rows.run.curves else f"{sentences('words_alone', {})[0]} {of_task(asked.rows)}"
    return f"{said} {steps['title']}. {known}".strip() if steps else said


def _judged(rows: Rows) -> tuple[Judged | None, list[Finding]]:
    """What the judge says of enough rows, and what is present, the cause first."""
    if rows.count < ENOUGH:
        return None, []
    case = open_case(rows.run)
    judged = judge(case) if case.outcome is not None else None
    found = [f for f in case.findings.values() if f.outcome is Outcome.PRESENT and role_of(f.pattern) is not Role.SYMPTOM]
    return judged, sorted(found, key=lambda f: judged is None or judged.cause is None or f.pattern != judged.cause.pattern)


def _figures(rows: Rows, read: Coverage) -> dict[str, Any]:
    """How much of what was pasted was read, and what stands in it: what the rows of ``sentences.toml`` ask for."""
    run, says = rows.run, task(rows.run).says
    return {
        **asdict(read),
        "beyond": read.rows_present - read.rows,
        "few": 0 < rows.count < ENOUGH,
        "who": run.frameworks[0] if run.frameworks else "an unknown trainer",
        "kind": says or (f"method {plain(rows.around.method)}" if rows.around.method else ""),
        "held_out": run.family("eval/score/"),
        "curves": len(run.curves),
        "settings": len(run.config),
        "samples": len(run.rollouts),
        "events": len(run.events),
    }


def _value(run: Run, told: Mapping[str, Any]) -> Finding:
    """A number that cannot be; one that is not finite at all is what an update that overflowed leaves."""
    causes = (cause(run, "overflow"),) if told["non_finite"] and "loss" in told["name"].lower() else ()
    link, about = causes[0].link if causes else Link.EVALUATION, (told["metric"], told["name"])
    return Finding("value", link, Outcome.PRESENT, is_normal(told), seen_in="values", causes=causes, about=about)


def _certain(e: Explained) -> list[Finding]:
    """The faults that are proven."""
    return [f for f in e.faults if f.there and f.seen_in in PROVEN]


def _causes(e: Explained) -> list[dict[str, str]]:
    """The likeliest causes, each once; hints only beside something that is wrong."""
    wrong = any(f.causes or f.seen_in == "curves" for f in e.faults if f.there)
    named = {c.cause: asdict(c) for f in (e.faults if wrong else values(e.rows.run)) for c in _causes_of(f)}
    return [{k: v for k, v in c.items() if k != "name"} for c in named.values()][:MOST_CAUSES]


def _causes_of(f: Finding) -> Iterable[Cause]:
    """The causes of a fault; of a pattern it is the pattern itself, with the test of its page."""
    if f.seen_in == "curves":
        return (Cause(f.link, plain(f.pattern), f.statement, patterns()[f.pattern].page["Next test"]),)
    return (replace(c, because="the log shows it") if f.confirmed else c for c in f.causes)


def _ask(e: Explained) -> list[dict[str, str]]:
    """At most three questions or files, each with what its answer decides."""
    asked = [asks for p in e.proven if p.there for asks in p.ask]
    if e.rows.count < ENOUGH and not len(e.rows.run.rollouts):
        sent = [*sentences("send", {"frameworks": e.rows.run.frameworks}), "Can you send the whole log, from the first row on?"][0]
        asked.append((sent, "whether it was so from the start or began at one step"))
    if not e.rows.run.config and _causes(e):
        asked.append(question("script"))
    return [{"question": q, "decides": d} for q, d in dict(asked).items()][:MOST_QUESTIONS]


def _facts(e: Explained) -> dict[str, Sequence[str]]:
    """The answer to the question, what stopped it, the point, then the action."""
    stopped = [experiment_on(f).do for f in e.faults if f.seen_in == "crash"]
    sure = [f.statement for f in _certain(e)[:2]]
    found = [f for f in e.faults if f.seen_in == "curves"][:1]
    strange = [t for t in e.told if t["normal"] in ("broken", "unusual")]
    likely, verdict = _causes(e), _verdict(e)
    wrong = (
        ["Not normal.", *sure] if sure else [sentence(f"{plain(f.pattern)}: {f.statement}") for f in found if f.statement not in verdict]
    )
    told = verdict.startswith("These")
    quiet = not (sure or found or strange or stopped or told or e.advised)
    left = e.unseen[:2] if quiet else e.unseen[: e.read.rows < e.read.rows_present]
    to_set = next((s for t in strange if (s := usual_value(e.rows.run, t["metric"]))), "") if not likely else ""
    act = likely and (sure or ((found or strange) and not stopped))
    do = f"{to_set.replace(' (not given)', '')}." if to_set else likely[0]["tell_apart"] if act else ""
    return {
        "Answer": () if e.advised and sure else [e.answer],
        "Stopped": stopped,
        "Verdict": [verdict] if told else (),
        "Cause": [*(f"{said.rstrip('.')}." for said in wrong), *(is_normal(t) for t in strange[:3] if not (sure or found))],
        "Checked": [*_checked(e), *[p.statement for p in e.proven if not p.there][:2]] if quiet else _noted(e) if e.advised else (),
        "Call": [verdict],
        "Do now": [f"Do first: {do}"] if do and not any(do in s for s in stopped) else (),
        "Read": [f"Not looked at: {'; '.join(left)}."] if left else (),
    }


def _verdict(e: Explained) -> str:
    """What the judge says of the rows: a verdict where it is likely, else how little these rows tell."""
    if e.judged is None or e.judged.verdict == "undecidable":
        return ""
    p = e.judged.probabilities.get(e.judged.verdict, 1.0)
    if p < SURE:
        return f"How it goes on cannot be told from {e.rows.count} rows: {plain(e.judged.verdict)} is likeliest ({percent(p)})."
    return f"These {e.rows.count} rows say {plain(e.judged.verdict)} ({percent(p)}): {sentence(e.judged.why)}"


def _checked(e: Explained) -> list[str]:
    """What was looked at and found within its range, and what was not: never that all is well."""
    went = how_it_goes(e.rows) if e.rows.count > (1 if e.answer else 2) else ""
    left = [t for t in e.told if not t["non_finite"] and not went.startswith(f"{t['name']} went ")]
    told = {
        "went": went if " went " in went else "",
        "usual": [f"{_short(t)} ({t['usual']})" if t["usual"] else _short(t) for t in left if t["normal"] == "normal"],
        "open": [_short(t) for t in left if t["normal"] == "unknown"],
        "time": "" if e.told else where_time_goes(e.rows),
        "notes": _noted(e),
    }
    given = counted(len(e.rows.run.config), "setting")
    none = f"What goes wrong does not show in {given}: these contradict nothing I know, and the rows of the log are needed."
    return sentences("checked", told) or [none if e.rows.run.config else "Nothing in these lines could be judged."]


def _noted(e: Explained) -> list[str]:
    """What of the settings is worth knowing though it is no fault."""
    return [f"{f.statement} {f.causes[0].tell_apart}" for f in e.faults[:1] if not f.there]


def _short(told: Mapping[str, Any]) -> str:
    return f"{told['name']} {told['value'].partition(' (')[0]}"
