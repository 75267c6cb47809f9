"""What a few pasted lines say: what they are, whether each number is normal, what they prove, the likely causes, and what to ask back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_advisor.answers.explain.answering import Asked, answered, question_in, where_time_goes
from rl_advisor.answers.explain.metrics import metrics
from rl_advisor.answers.explain.procedures import asked_for
from rl_advisor.answers.explain.words import explain_word
from rl_advisor.answers.explain.written import Coverage, coverage
from rl_advisor.answers.story.naming import renamed
from rl_advisor.detectors import patterns
from rl_advisor.finding import Finding, Outcome, Role
from rl_advisor.judgement.case import open_case
from rl_advisor.judgement.diagnosis import role_of
from rl_advisor.judgement.proofs import CONFIG, TOLD, Proof, causes, proofs
from rl_advisor.judgement.proofs.crashes import Crash, crash_in, warnings_in
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.judgement.proven import act
from rl_advisor.judgement.settings_to_change import usual_value
from rl_advisor.judgement.verdict import Judged, judge
from rl_advisor.output.wording import counted, listed, percent, plain, sentence
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.settings.given import CheckOutcome

NOTHING = (
    "I found no metrics, settings or errors in this text. Paste the lines that the trainer logs (a few rows are enough),"
    " the traceback, or the launch command."
)
MOST_CAUSES, MOST_QUESTIONS = 4, 3
LATE = ("broken_policy",)
"""Causes that say no more than that something broke: what a finding names goes before them."""
SURE = 0.85
"""Probability from which a verdict on pasted rows is said as one."""
ENOUGH = 8
"""Rows from which the judge is asked, too."""
WHERE: Mapping[str, str] = {
    "trl": "`trainer_state.json` of the newest checkpoint",
    "verl": "the whole console log, or the `.jsonl` of the file logger",
    "sb3": "`progress.csv` and `evaluations.npz`",
    "rsl_rl": "the `events.out.tfevents` file of the run",
    "mlagents": "the `results/<run>` folder",
    "rllib": "`progress.csv` or `result.json` of the trial",
}
"""Where a framework keeps the whole log."""


@dataclass(frozen=True)
class Explained:
    """All that was found in the lines."""

    rows: Rows
    crash: Crash | None
    warned: Sequence[Crash]
    """What the trainer itself warns of."""
    proven: Sequence[Proof]
    checked: Sequence[CheckOutcome]
    """Faults and notes about the settings."""
    judged: Judged | None
    """What the judge says of the rows, where they are enough."""
    found: Sequence[Finding]
    read: Coverage

    @property
    def empty(self) -> bool:
        """Whether nothing was recognised at all."""
        return not (self.rows.run.curves or self.rows.run.config or self.crash or self.warned)


def a_word(text: str, question: str = "") -> dict[str, Any] | None:
    """What a single word is: a pattern, check, verdict or metric, the question about it answered first; None for any other text."""
    word = explain_word(text) if len(text) < 80 and len(text.split()) <= 3 else None
    if word is None:
        return None
    answer = answered(Asked(question, Rows(Run(name=text)), (), ())) if question else ""
    word["summary"] = f"{answer} {word['summary']}".strip()
    return {"recognised": f"{word['kind']} {word['word']}", "metrics": [], "proven": [], "causes": [], "ask": [], **word}


def explain_run(run: Run, text: str = "", question: str = "") -> dict[str, Any]:
    """What the rows of a run say, as plain JSON in its own names; ``text`` is what they were read from, with all that the rows lack."""
    rows = Rows(run)
    case = open_case(run) if rows.count >= ENOUGH else None
    judged = judge(case) if case is not None and case.outcome is not None else None
    seen = case.findings.values() if case is not None else ()
    found = [f for f in seen if f.outcome is Outcome.PRESENT and role_of(f.pattern) is not Role.SYMPTOM]
    found.sort(key=lambda f: judged is None or judged.cause is None or f.pattern != judged.cause.pattern)
    checked = [o for o in checks.run(run) if o.outcome in ("fault", "note")]
    e = Explained(rows, crash_in(text), warnings_in(text), proofs(rows), checked, judged, found, coverage(run, text))
    told, likely = metrics(rows, e.proven), _causes(e)
    asked = question or question_in(text)
    answer = answered(Asked(asked, rows, told, e.proven)) if asked else ""
    steps = asked_for(asked or text) if not (run.curves or e.crash) else None
    crash, names = e.crash, {c.name: c.raw for c in run.curves.values() if c.name != c.raw}
    said: dict[str, Any] = (
        {"crash": {"error": crash.error, "where": crash.where, "means": crash.means, "do": crash.do}} if crash else {}
    ) | {
        "recognised": _recognised(rows, e.read),
        "read": {
            "rows": e.read.rows,
            "rows_present": e.read.present,
            "names": e.read.names,
            "names_present": e.read.names_present,
            "unread": list(e.read.unread),
        },
        "metrics": told,
        "proven": [*(_warned(w) for w in e.warned), *(p.says for p in e.proven)]
        + [f"The settings: {o.statement}" for o in checked if o.outcome == "fault"],
        "causes": likely,
        "not_looked_at": _not_looked_at(e),
        "steps": steps["steps"] if steps else [],
        "ask": _ask(e, likely),
        "summary": f"{steps['title']}." if steps else answer or NOTHING if e.empty else _summary(e, told, likely, answer),
    }
    return renamed(said, names)  # type: ignore[no-any-return]


def _warned(warning: Crash) -> str:
    return sentence(warning.means)


def _not_looked_at(e: Explained) -> list[str]:
    """What these lines leave open, so that nobody takes what is not said for well."""
    run, read = e.rows.run, e.read
    out = [f"{read.present - read.rows} of {read.present} rows, which could not be read"] if read.rows < read.present else []
    if read.unread:
        out.append(f"what these mean: {'; '.join(read.unread[:8])}{f' and {len(read.unread) - 8} more' if len(read.unread) > 8 else ''}")
    if e.rows.count < ENOUGH and run.curves:
        out.append("courses: one row shows none" if e.rows.count == 1 else f"courses beyond these {e.rows.count} rows")
    out += [] if run.config else ["settings: none given"]
    out += [] if any(n.startswith("eval/score/") for n in run.curves) else ["a held-out score: none stands here"]
    return [*out, "samples: texts and episodes were not read"]


def _causes(e: Explained) -> list[dict[str, str]]:
    """The likeliest causes in order: the crash, what settings or the trainer prove, what lines prove, what the judge finds, hints."""
    faults = [o for o in e.checked if o.outcome == "fault"]
    named = [name for p in e.proven for name in p.causes]
    first, last = ([_named(e, n) for n in named if (n in LATE) is late] for late in (False, True))
    out = [
        *([_cause(e.crash.link.value, e.crash.means, _stopped(e.crash), e.crash.do)] if e.crash else []),
        *(_cause(o.link.value, o.statement, "the log shows it" if o.confirmed else o.confirm_by, o.do) for o in faults),
        *(_cause(w.link.value, w.means, "the trainer prints it", w.do) for w in e.warned),
        *first,
        *(_cause(f.link.value, plain(f.pattern), f.statement, patterns()[f.pattern].page["Next test"]) for f in e.found),
        *last,
    ]
    hints = [o for o in e.checked if o.outcome == "note" and o.do] if out else []
    out += [_cause(o.link.value, o.statement, o.confirm_by, o.do) for o in hints]
    return list({c["cause"]: c for c in reversed(out)}.values())[::-1][:MOST_CAUSES]


def _named(e: Explained, name: str) -> dict[str, str]:
    cause = causes()[name]
    return _cause(cause.link.value, cause.cause, cause.because, act(e.rows.run, name))


def _cause(link: str, cause: str, because: str, tell_apart: str) -> dict[str, str]:
    return {"link": link, "cause": cause, "because": because, "tell_apart": tell_apart}


def _stopped(crash: Crash) -> str:
    """The kind of error and its place; its message is the run's text and stands apart."""
    kind = re.split(r"[:\s(]", crash.error, maxsplit=1)[0]
    return f"{kind} at {crash.where}" if crash.where else kind


def _ask(e: Explained, likely: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """At most three questions or files, each with what its answer decides."""
    asked = [question for p in e.proven if p.fault for question in p.ask]
    if e.rows.count < ENOUGH:
        name = next((WHERE[f] for f in e.rows.run.frameworks if f in WHERE), "the whole log, from the first row on")
        asked.append((f"Can you send {name}?", "whether it was so from the start or began at one step"))
    if not e.rows.run.config and likely:
        asked.append(CONFIG)
    return [{"question": q, "decides": d} for q, d in dict(asked).items()][:MOST_QUESTIONS]


def _recognised(rows: Rows, read: Coverage) -> str:
    """What the text was taken for."""
    run, method = rows.run, rows.around.method
    parts = []
    if run.curves:
        who = run.frameworks[0] if run.frameworks else "an unknown trainer"
        by = f", method {method.replace('_', ' ')}" if method else ""
        of = f" of {read.present}" if read.present > read.rows else ""
        parts.append(f"{read.rows}{of} row{'s' if read.present > 1 else ''} of {who}, {read.names} of {read.names_present} names known{by}")
    if run.config:
        parts.append(counted(len(run.config), "setting"))
    if run.events:
        parts.append(counted(len(run.events), "message of errors or warnings").replace("warningss", "warnings"))
    return "; ".join(parts) or "no metrics, no settings and no error message"


def _summary(e: Explained, told: Sequence[dict[str, Any]], likely: Sequence[dict[str, str]], answer: str) -> str:
    """The answer to the question, the point, then the action, in a few sentences."""
    faults = _faults(e, told)
    fine = [p.says for p in e.proven if not p.fault]
    odd = [_odd(t) for t in told if t["normal"] in ("broken", "unusual")]
    first = [answer] if answer else []
    if e.crash:
        first.append(f"It stopped with {_stopped(e.crash)}: {e.crash.means}. {e.crash.do}")
    if faults:
        first.append("Not normal. " + " ".join(f for f in faults[:2] if f not in answer))
    verdict = _verdict(e)
    first.append(verdict)
    if e.found and not faults and e.found[0].statement not in verdict:
        first.append(sentence(f"{plain(e.found[0].pattern)}: {e.found[0].statement}"))
    elif odd and not faults:
        first += [o for o in odd[:2] if o not in answer]
    elif not (faults or e.crash or verdict.startswith("These")):
        first += [said for said in (*_checked(e, told), *fine[:2]) if said not in answer]
    strange = [t["metric"] for t in told if t["normal"] in ("broken", "unusual")]
    to_set = next((s for name in strange if (s := usual_value(e.rows.run, name, {}))), "") if odd and not likely else ""
    first += [f"Do first: {to_set.replace(' (not given)', '')}."] if to_set else []
    if likely and (faults or (e.found and not e.crash)):
        first.append(f"Do first: {likely[0]['tell_apart']}")
    if e.read.rows < e.read.present:
        first.append(f"Read {e.read.rows} of {e.read.present} rows.")
    return " ".join(filter(None, first))


def _faults(e: Explained, told: Sequence[dict[str, Any]]) -> list[str]:
    """What is wrong for certain: warned of by the trainer, set wrongly, beyond what is possible, proven by the rows."""
    accused = {name for p in e.proven if p.fault for name in p.about}
    set_wrongly = [o for o in e.checked if o.outcome == "fault"]
    accused |= {key for o in set_wrongly for key in o.keys}
    broken = [_odd(t) for t in told if t["normal"] == "broken" and not {t["metric"], t["name"]} & accused]
    late = [p.says for p in e.proven if p.fault and set(p.causes) & set(LATE)]
    sure = [p.says for p in e.proven if p.fault and p.says not in late]
    return [*map(_warned, e.warned), *(o.statement for o in set_wrongly), *sure, *broken, *late]


def _odd(told: dict[str, Any]) -> str:
    return f"{told['name']} {told['value']} is {told['normal']}: {told['why']}"


def _verdict(e: Explained) -> str:
    """What the judge says of the rows: a verdict where it is likely, else how little these rows tell."""
    if e.judged is None or e.judged.verdict == "undecidable":
        return ""
    p = e.judged.probabilities.get(e.judged.verdict, 1.0)
    if p < SURE:
        return f"How it goes on cannot be told from {e.rows.count} rows: {plain(e.judged.verdict)} is likeliest ({percent(p)})."
    return f"These {e.rows.count} rows say {plain(e.judged.verdict)}: {sentence(e.judged.why)}"


def _checked(e: Explained, told: Sequence[dict[str, Any]]) -> list[str]:
    """What was looked at and found within its range, and what was not: never that all is well."""
    curves = e.rows.run.curves
    usual = [_short(t) for t in told if t["normal"] == "normal" and not t["non_finite"]]
    open_ = [_short(t) for t in told if t["normal"] == "unknown"]
    said = [f"Within what is usual: {listed(usual, 4)}."] if usual else []
    said += [] if told else [where_time_goes(e.rows)]
    said += [f"Not judged, because the level depends on the task: {listed(open_, 4)}."] if open_ else []
    said += [f"Not understood: {listed(list(e.read.unread), 4)}."] if e.read.unread else []
    if e.rows.count < ENOUGH and not all(c.note == TOLD for c in curves.values()):
        said.append("One row shows no course." if e.rows.count == 1 else f"{e.rows.count} rows show too little of a course to judge it.")
    notes = [o for o in e.checked if o.outcome == "note" and o.do]
    said += [" ".join(filter(None, (notes[0].statement, notes[0].do)))] if notes else []
    if e.rows.run.config and not any(said):
        said.append(f"No fault in {counted(len(e.rows.run.config), 'setting')} by the checks that know them; the log would show the rest.")
    return list(filter(None, said)) or ["Nothing in these lines could be judged."]


def _short(told: dict[str, Any]) -> str:
    return f"{told['name']} {re.sub(r' [(][0-9]+ rows[)]$', '', told['value'])}"
