"""What a few pasted lines say: what they are, whether each number is normal, what they prove, the likely causes, and what to ask back."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from rl_advisor import checks
from rl_advisor.diagnosis import diagnose
from rl_advisor.explaining.crashes import Crash, crash_in
from rl_advisor.explaining.metrics import metrics
from rl_advisor.explaining.pasted import bounded, run_of
from rl_advisor.explaining.proofs import CONFIG, Proof, proofs
from rl_advisor.explaining.rows import Rows
from rl_advisor.explaining.words import explain_word
from rl_advisor.finding import Finding, Outcome
from rl_advisor.judgement.experiment import manual_page
from rl_advisor.run import Run
from rl_advisor.settings import CheckOutcome

MOST_CAUSES, MOST_QUESTIONS = 4, 3
ENOUGH = 8
"""Rows from which the detectors are asked, too."""
WHERE = {
    "trl": "`trainer_state.json` of the newest checkpoint",
    "verl": "the whole console log, or the `.jsonl` of the file logger",
    "sb3": "`progress.csv` and `evaluations.npz`",
    "rsl_rl": "the `events.out.tfevents` file of the run",
    "mlagents": "the `results/<run>` folder",
    "rllib": "`progress.csv` or `result.json` of the trial",
}
"""Where a framework keeps the whole log."""
SYMPTOMS = ("plateau", "still_improving", "converged", "noise_dominated", "decline", "collapse", "no_gain", "instability")


def explain(text: str, question: str = "", framework: str | None = None) -> dict[str, Any]:
    """What a pasted text says, as plain JSON; a single word is explained as such."""
    word = explain_word(text) if len(text) < 80 and len(text.split()) <= 3 else None
    if word is not None:
        return {"recognised": f"{word['kind']} {word['word']}", "metrics": [], "proven": [], "causes": [], "ask": [], **word}
    return explain_run(run_of(text, framework), bounded(text), question)


def explain_run(run: Run, text: str = "", question: str = "") -> dict[str, Any]:
    """What the rows of a run say; ``text`` is what they were read from, for crashes."""
    rows = Rows(run)
    proven = proofs(rows)
    crash = crash_in(text)
    said = [o for o in checks.run(run) if o.outcome in ("fault", "note")]
    found = [f for f in diagnose(run) if f.outcome is Outcome.PRESENT and f.pattern not in SYMPTOMS] if rows.count >= ENOUGH else []
    causes = _causes(crash, proven, said, found)
    ask = _ask(rows, proven, causes)
    told = metrics(rows, proven)
    return {
        "recognised": _recognised(rows, said),
        "metrics": told,
        "proven": [p.says for p in proven] + [f"The settings: {o.statement}" for o in said if o.outcome == "fault"],
        "causes": causes,
        "ask": ask,
        "summary": _summary(rows, crash, proven, said, told, causes, question),
    }


def _causes(crash: Crash | None, proven: Sequence[Proof], said: Sequence[CheckOutcome], found: Sequence[Finding]) -> list[dict[str, str]]:
    """The likeliest causes in order: the crash, what settings prove, what lines prove, what detectors find, what settings hint at."""
    out: list[dict[str, str]] = []
    if crash:
        out.append(_cause(crash.link.value, crash.means, f"{crash.error} ({crash.where})" if crash.where else crash.error, crash.do))
    out += [_cause(o.link.value, o.statement, o.confirm_by if not o.confirmed else "the log shows it", o.do) for o in said if o.outcome == "fault"]
    out += [_cause(c.link.value, c.cause, c.because, c.tell_apart) for p in proven for c in p.causes]
    out += [_cause(f.link.value, f.pattern.replace("_", " "), f.statement, manual_page(f.pattern)["Next test"]) for f in found]
    faulty = bool(out)
    out += [_cause(o.link.value, o.statement, o.confirm_by, o.do) for o in said if o.outcome == "note" and o.do and faulty]
    unique = {c["cause"]: c for c in reversed(out)}
    return [c for c in out if unique.get(c["cause"]) is not None and unique.pop(c["cause"])][:MOST_CAUSES]


def _cause(link: str, cause: str, because: str, tell_apart: str) -> dict[str, str]:
    return {"link": link, "cause": cause, "because": because, "tell_apart": tell_apart}


def _ask(rows: Rows, proven: Sequence[Proof], causes: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """At most three questions or files, each with what its answer decides."""
    asked = [question for p in proven if p.fault for question in p.ask]
    if rows.count < ENOUGH:
        name = next((WHERE[f] for f in rows.run.frameworks if f in WHERE), "the whole log, from the first row on")
        asked.append((f"Can you send {name}?", "whether it was so from the start or began at one step"))
    if not rows.run.config and causes:
        asked.append(CONFIG)
    unique = dict(asked)
    return [{"question": q, "decides": d} for q, d in unique.items()][:MOST_QUESTIONS]


def _recognised(rows: Rows, said: Sequence[CheckOutcome]) -> str:
    """What the text was taken for."""
    known = [c for c in rows.run.curves.values() if c.mapped or c.guessed]
    parts = []
    if rows.run.curves:
        who = rows.run.frameworks[0] if rows.run.frameworks else "an unknown trainer"
        rows_said = f"{rows.count} row{'s' if rows.count > 1 else ''}"
        parts.append(f"{rows_said} of {who}, {len(known)} of {len(rows.run.curves)} metrics known{_by(rows)}")
    if rows.run.config:
        parts.append(f"{len(rows.run.config)} settings")
    if rows.run.events:
        parts.append(f"{len(rows.run.events)} messages of errors or warnings")
    return "; ".join(parts) or "no metrics, no settings and no error message"


def _by(rows: Rows) -> str:
    method = rows.around.method
    return f", method {method.replace('_', ' ')}" if method else ""


def _summary(  # noqa: PLR0913, PLR0917 - all that was found comes together here
    rows: Rows,
    crash: Crash | None,
    proven: Sequence[Proof],
    said: Sequence[CheckOutcome],
    told: Sequence[dict[str, Any]],
    causes: Sequence[dict[str, str]],
    question: str,
) -> str:
    """The point first, then the action, in a few sentences."""
    if not (rows.run.curves or rows.run.config or crash):
        asked = _asked_about(question)
        return asked or "No metric, setting or error stands in this text. Paste the lines that the trainer logs (a few rows are enough), or its settings."
    faults = [p.says for p in proven if p.fault]
    settings = [o.statement for o in said if o.outcome == "fault"]
    fine = [p.says for p in proven if not p.fault]
    first: list[str] = []
    if crash:
        first.append(f"It stopped with: {crash.error}{f' at {crash.where}' if crash.where else ''}. That means {crash.means}. {crash.do}")
    if faults or settings:
        first += ["Not normal. " + " ".join((settings + faults)[:2])]
    elif not crash:
        odd = [t for t in told if t["normal"] in ("broken", "unusual")]
        first.append(" ".join(f"{t['name']} = {t['value']} is {t['normal']}: {t['why']}" for t in odd[:2]) if odd else "Nothing in these lines is out of the ordinary.")
    first += fine[: 1 if faults else 2]
    if causes and (faults or settings):
        first.append(f"Do first: {causes[0]['tell_apart']}.".replace("..", "."))
    return " ".join(first)


def _asked_about(question: str) -> str:
    """What can be said of the metrics that a question names, where no lines came with it."""
    words = re.findall(r"[A-Za-z_][\w/]{1,40}", question)[:40]
    told = [w for word in dict.fromkeys(words) if (w := explain_word(word)) is not None and w["kind"] == "metric"]
    return " ".join(f"{w['word']}: {w['summary']} {w['meanings'][0]['means'].get('usual', '')}".strip() for w in told[:2])
