"""What the model wrote, chosen to be read: best rewarded, worst rewarded and random, in envelopes. The answer of ``samples``."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rl_advisor.output import Answer
from rl_advisor.output.clean import is_name, untrusted
from rl_advisor.output.errors import UsageError
from rl_advisor.output.wording import counted, sentence
from rl_advisor.run import Run

LONGEST, LONGEST_CODE = 1500, 1 << 20
SEED = 0


def spot_check(run: Run, step: int | None = None, count: int = 3, audit: int | None = None, reward: Path | None = None) -> Answer:
    """What the samples say, what changed since the first ones, the triad at a step, text statistics over steps, the reward's audit.

    ``audit`` adds as many of the most suspicious samples, with their reasons and how common each reason is. ``reward``
    is the file of the reward's code, which is read and never run.

    Raises:
        NoSuchChoice: the step lies before the first sample; the message names first and last.
    """
    from rl_advisor.samples import spotcheck
    from rl_advisor.samples.reward_check import audit as audit_of_reward
    from rl_advisor.samples.text_change import changes

    try:
        picked = spotcheck.triad(run, step, count, SEED)
    except ValueError as none:
        raise UsageError(str(none)) from none
    answer: Answer = {"responses": _counted(run), "says": _says(run), "changes": changes(run)}
    answer |= _episodes(run)
    answer |= {key: marked(value, key, key) for key, value in dict(picked).items()}
    answer["statistics"] = marked(spotcheck.statistics(run), "statistics")
    answer["reward"] = marked(audit_of_reward(run), "reward")
    if audit is not None:
        from rl_advisor.samples.sample_audit import sample_audit

        answer["audit"] = marked(sample_audit(run, audit), "audit")
    if reward:
        from rl_advisor.samples.reward_code import code_lines, read_reward, used

        with reward.open(encoding="utf-8", errors="replace") as file:
            found = used(run, read_reward(file.read(LONGEST_CODE)))
        answer["reward_code"] = {**found, "says": list(code_lines(found))}
    gaps = [*answer.pop("gaps", ()), *map(asdict, run.gaps)]
    return {"run": run.name, **answer, "gaps": [g for i, g in enumerate(gaps) if g not in gaps[:i]]}


def of_samples(run: Run) -> str:
    """What a few samples say without a run, in a few sentences, and where the rest is told; nothing where there are none."""
    if not len(run.rollouts):
        return ""
    said = [f["statement"] for f in _says(run) if f["outcome"] == "present"]
    said += [sentence(line) for name, part in _episodes(run).items() if name != "credit" for line in part["says"]]
    rest = "`rl-advisor samples FILE` shows the texts, what changed and what is paid."
    return " ".join([f"These are {counted(len(run.rollouts), 'sample')} of text, no metrics.", *said[:5], rest])


def _episodes(run: Run) -> Answer:
    """Why episodes failed, what the reward pays for and where credit goes, in numbers and in sentences; each only where it can be told."""
    from rl_advisor.answers.episodes import credit_lines, failure_lines, formula_lines
    from rl_advisor.samples.credit import credit
    from rl_advisor.samples.episodes import why_failed
    from rl_advisor.samples.reward_formula import paid_for

    asked = (("failures", why_failed, failure_lines), ("paid_for", paid_for, formula_lines), ("credit", credit, credit_lines))
    found: Answer = {}
    for name, look, lines in asked:
        if part := look(run):
            found[name] = marked(part, name) | {"says": lines(part)}
    return found


def _counted(run: Run) -> Answer:
    """How many responses there are, and at which steps."""
    rows = run.rollouts
    if not len(rows):
        return {"count": 0, "steps": 0}
    return {"count": len(rows), "steps": rows["step"].nunique(), "first": rows["step"].min(), "last": rows["step"].max()}


def _says(run: Run) -> list[Answer]:
    """What the detectors that read samples found: causes before what they bring about, then what cannot be decided."""
    from rl_advisor.detectors import patterns
    from rl_advisor.finding import Outcome, Role
    from rl_advisor.judgement.diagnosis import diagnose, role_of

    read = [f for f in diagnose(run) if any(e.metric == "rollouts" for e in f.evidence)]
    present = [f for f in read if f.outcome is Outcome.PRESENT]
    brought = {name for f in present for name in patterns()[f.pattern].brings}
    told = sorted(present, key=lambda f: (f.pattern in brought, role_of(f.pattern) is Role.SYMPTOM))
    told += [f for f in read if f.outcome is Outcome.UNCLEAR]
    return [{"pattern": f.pattern, "outcome": f.outcome.value, "statement": f.statement, "onset": f.onset} for f in told]


_OURS = frozenset({"meaning", "source", "gaps", "cannot_tell", "where", "what", "beside_the_task"})
"""Parts whose text is not the run's."""
_WRITTEN = frozenset({"prompt", "response", "word", "text", "quote", "example", "other"})


def marked(value: Any, origin: str, key: str = "") -> Any:
    """The value with everything that the model or the data set wrote in envelopes that say where it stands."""
    if key in _OURS or (key == "reasons" and isinstance(value, list)):
        return value
    if isinstance(value, Mapping):
        row = f"{value['source']}, row {value['row']}" if "source" in value and "row" in value else origin
        inside = key in _WRITTEN and "response" not in value
        return {k: marked(v, row, key if inside else str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [marked(v, origin, key) for v in value]
    if isinstance(value, str) and (key in _WRITTEN or not is_name(value)):
        return untrusted(value, origin, LONGEST)
    return value
