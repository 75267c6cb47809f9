"""What a few pasted lines say: what they are, whether each number is normal, what they prove, the likely causes, and what to ask back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rl_advisor.answers.explain.metrics import metrics
from rl_advisor.answers.explain.words import explain_word
from rl_advisor.finding import Finding, Outcome, Role
from rl_advisor.judgement.diagnosis import diagnose, role_of
from rl_advisor.judgement.experiment import manual_page
from rl_advisor.judgement.proofs import CONFIG, Proof, causes, proofs
from rl_advisor.judgement.proofs.crashes import Crash, crash_in
from rl_advisor.judgement.proofs.rows import Rows
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.settings.given import CheckOutcome

NOTHING = (
    "No metric, setting or error stands in this text. Paste the lines that the trainer logs (a few rows are enough), the traceback, or the"
    " launch command."
)
ONLY_LEVELS = "No number here is wrong by itself: these levels depend on the task, and what counts is how they go on. Paste more rows."
MOST_CAUSES, MOST_QUESTIONS = 4, 3
ENOUGH = 8
"""Rows from which the detectors are asked, too."""
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
    proven: Sequence[Proof]
    checked: Sequence[CheckOutcome]
    """Faults and notes about the settings."""
    found: Sequence[Finding]

    @property
    def empty(self) -> bool:
        """Whether nothing was recognised at all."""
        return not (self.rows.run.curves or self.rows.run.config or self.crash)


def a_word(text: str) -> dict[str, Any] | None:
    """What a single word is: a pattern, check, verdict or metric; None for any other text."""
    word = explain_word(text) if len(text) < 80 and len(text.split()) <= 3 else None
    if word is None:
        return None
    return {"recognised": f"{word['kind']} {word['word']}", "metrics": [], "proven": [], "causes": [], "ask": [], **word}


def explain_run(run: Run, text: str = "", question: str = "") -> dict[str, Any]:
    """What the rows of a run say, as plain JSON; ``text`` is what they were read from, for crashes."""
    rows = Rows(run)
    seen = diagnose(run) if rows.count >= ENOUGH else ()
    found = [f for f in seen if f.outcome is Outcome.PRESENT and role_of(f.pattern) is not Role.SYMPTOM]
    checked = [o for o in checks.run(run) if o.outcome in ("fault", "note")]
    e = Explained(rows, crash_in(text), proofs(rows), checked, found)
    told, likely = metrics(rows, e.proven), _causes(e)
    crash = e.crash
    return ({"crash": {"error": crash.error, "where": crash.where, "means": crash.means, "do": crash.do}} if crash else {}) | {
        "recognised": _recognised(rows),
        "metrics": told,
        "proven": [p.says for p in e.proven] + [f"The settings: {o.statement}" for o in checked if o.outcome == "fault"],
        "causes": likely,
        "ask": _ask(e, likely),
        "summary": _asked_about(question) or NOTHING if e.empty else _summary(e, told, likely),
    }


def _causes(e: Explained) -> list[dict[str, str]]:
    """The likeliest causes in order: the crash, what settings prove, what lines prove, what detectors find, what settings hint at."""
    proven = [o for o in e.checked if o.outcome == "fault"]
    named = [causes()[name] for p in e.proven for name in p.causes]
    out = [
        *([_cause(e.crash.link.value, e.crash.means, _stopped(e.crash), e.crash.do)] if e.crash else []),
        *(_cause(o.link.value, o.statement, "the log shows it" if o.confirmed else o.confirm_by, o.do) for o in proven),
        *(_cause(c.link.value, c.cause, c.because, c.tell_apart) for c in named),
        *(_cause(f.link.value, f.pattern.replace("_", " "), f.statement, manual_page(f.pattern)["Next test"]) for f in e.found),
    ]
    hints = [o for o in e.checked if o.outcome == "note" and o.do] if out else []
    out += [_cause(o.link.value, o.statement, o.confirm_by, o.do) for o in hints]
    return list({c["cause"]: c for c in reversed(out)}.values())[::-1][:MOST_CAUSES]


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


def _recognised(rows: Rows) -> str:
    """What the text was taken for."""
    run, method = rows.run, rows.around.method
    parts = []
    if run.curves:
        known = sum(c.mapped or c.guessed for c in run.curves.values())
        who = run.frameworks[0] if run.frameworks else "an unknown trainer"
        by = f", method {method.replace('_', ' ')}" if method else ""
        parts.append(f"{rows.count} row{'s' if rows.count > 1 else ''} of {who}, {known} of {len(run.curves)} metrics known{by}")
    if run.config:
        parts.append(f"{len(run.config)} settings")
    if run.events:
        parts.append(f"{len(run.events)} messages of errors or warnings")
    return "; ".join(parts) or "no metrics, no settings and no error message"


def _summary(e: Explained, told: Sequence[dict[str, Any]], likely: Sequence[dict[str, str]]) -> str:
    """The point first, then the action, in a few sentences."""
    faults = [o.statement for o in e.checked if o.outcome == "fault"] + [p.says for p in e.proven if p.fault]
    fine = [p.says for p in e.proven if not p.fault]
    odd = [f"{t['name']} = {t['value']} is {t['normal']}: {t['why']}" for t in told if t["normal"] in ("broken", "unusual")]
    first: list[str] = []
    if e.crash:
        first.append(f"It stopped with {_stopped(e.crash)}: {e.crash.means}. {e.crash.do}")
    if faults:
        first.append("Not normal. " + " ".join(faults[:2]))
    elif not e.crash:
        judged = any(t["normal"] == "normal" for t in told)
        first.append(" ".join(odd[:2]) or ("Nothing in these lines is out of the ordinary." if judged or fine else ONLY_LEVELS))
    first += fine[: 1 if faults else 2]
    if likely and faults:
        first.append(f"Do first: {likely[0]['tell_apart']}")
    return " ".join(first)


def _asked_about(question: str) -> str:
    """What can be said of the metrics that a question names, where no lines came with it."""
    words = re.findall(r"[A-Za-z_][\w/]{1,40}", question)[:40]
    told = [w for word in dict.fromkeys(words) if (w := explain_word(word)) is not None and w["kind"] == "metric"]
    return " ".join(f"{w['word']}: {w['summary']} {w['meanings'][0]['means'].get('usual', '')}".strip() for w in told[:2])
