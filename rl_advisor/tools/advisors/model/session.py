"""One judgement by a model from beginning to end: instructions, transcript, caps, the loop, and what to sign when it fails.

The transcript is the conversation on disk, one line a turn, so that nothing that was paid for is asked twice after a crash.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from rl_advisor.finding import Assessment
from rl_advisor.output import shipped
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Run
from rl_advisor.tools.advisors.model.ledger import PRICE_VARIABLE, Ledger, price_of
from rl_advisor.tools.advisors.model.loop import Session, converse, recall
from rl_advisor.tools.advisors.model.signing import answer_tool, instead, signed
from rl_advisor.tools.advisors.model.toolbox import Toolbox, tools
from rl_advisor.tools.advisors.model.turns import Ask, Entry

QUESTION = "Judge the run."


@dataclass(frozen=True)
class ModelOptions:
    """What a caller may set, whoever the provider is."""

    model: str
    base_url: str | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    transcript: str | Path | None = None

    @classmethod
    def of(cls, default: str, wished: Mapping[str, Any]) -> "ModelOptions":
        """The caller's wishes, with the environment's where the caller has none, and the provider's ``default`` model."""
        given = {name: value for name, value in wished.items() if value is not None}
        usual = {"model": os.environ.get("RL_ADVISOR_MODEL") or default, "base_url": os.environ.get("RL_ADVISOR_BASE_URL") or None}
        return cls(**(usual | given))


def advise(advisor: str, run: Run, base: Assessment, connect: Callable[[], Ask], wished: ModelOptions) -> Assessment:
    """The model's assessment, or ``base`` saying why there is none.

    ``connect`` gives the function that asks the model, and raises ``Unavailable`` where it cannot be asked.

    Raises:
        NoSuchChoice: the wishes cannot be met: a cap in money without a price, a transcript of something else.
    """
    # Connected with the first question: a finished transcript needs no key.
    session = _open(advisor, Toolbox(run, base.findings), base, wished, cache(connect))
    ended = converse(session)
    if session.ledger.spent.total:
        note(advisor, f"{wished.model}: {session.ledger.said()}")
    if ended.said is None:
        note(advisor, f"{ended.why}; the built-in advisor answers instead.")
        return instead(base, advisor, readable(ended.why, 300))
    return signed(ended.said, base, session.bench)


def note(advisor: str, text: str) -> None:
    """Tell the person at the terminal."""
    sys.stderr.write(f"rl-advisor: {advisor}: {readable(text, 500)}\n")


def _ledger(wished: ModelOptions) -> Ledger:
    price = price_of(wished.model)
    if wished.max_cost is not None and price is None:
        raise UsageError(
            f"the price of {wished.model} is not known, so a cap in money cannot be kept; "
            f"set {PRICE_VARIABLE}=INPUT,OUTPUT (dollars for a million tokens) or cap the tokens instead"
        )
    return Ledger(price, wished.max_cost, wished.max_tokens)


def _open(advisor: str, bench: Toolbox, base: Assessment, wished: ModelOptions, connected: Callable[[], Ask]) -> Session:
    """The session, begun or taken up from its transcript."""
    path = None if wished.transcript is None else Path(wished.transcript)

    def keep(entry: Entry) -> None:
        if path is not None:
            append(path, entry)

    session = Session(
        instructions=_instructions(),
        tools=(*tools(), answer_tool()),
        bench=bench,
        base=base,
        connected=connected,
        ledger=_ledger(wished),
        keep=keep,
        note=lambda text: note(advisor, text),
    )
    entries = [] if path is None else resume(path, _about(advisor, bench.run, base, wished.model))
    if not entries:
        entries = [{"role": "user", "text": QUESTION}]
        keep(entries[0])
    recall(session, entries)
    return session


def _about(advisor: str, run: Run, base: Assessment, model: str) -> dict[str, str | int]:
    """What a transcript must have in common with a session that takes it up: who was asked, about which measured run."""
    measured = hashlib.sha256(base.model_dump_json().encode()).hexdigest()[:16]
    return {"advisor": advisor, "model": model, "run": readable(run.name, 200), "step": base.step, "measured": measured}


def _instructions() -> str:
    skill = shipped.skill_pages()["SKILL.md"].split("---", 2)[-1].strip()
    return f"{shipped.prompt('model_advisor')}\n{skill}"


SCHEMA = "rl-advisor/transcript/1"
_LARGEST, _BEGINS = 64_000_000, b'{"schema":'


def resume(path: Path, about: dict[str, Any]) -> list[Entry]:
    """The entries of a conversation that was begun about the same thing; empty, with the file begun, when there is none.

    A last line that was not written to its end is dropped.

    Raises:
        NoSuchChoice: the file is about something else, or is no transcript.
    """
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the transcript in")
    lines = _whole_lines(path) if path.exists() else []
    if not lines:
        append(path, {"schema": SCHEMA, **about})
        return []
    other = [key for key, value in about.items() if lines[0].get(key) != value]
    if other:
        raise UsageError(f"the transcript {path.name} is of another {' and '.join(other)}; name another file or remove it")
    return lines[1:]


def append(path: Path, entry: Entry) -> None:
    """Write one line to the disk itself before coming back."""
    with path.open("ab") as file:
        file.write(orjson.dumps(entry) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _whole_lines(path: Path) -> list[Entry]:
    """The lines of the file; a torn last one is cut off the file."""
    if path.stat().st_size > _LARGEST:
        raise UsageError(f"{path.name} is too large for a transcript")
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    try:
        lines: list[Entry] = [dict(orjson.loads(line)) for line in whole.splitlines()]
    except (ValueError, TypeError):
        lines = [{}]
    if not (lines[0].get("schema") == SCHEMA if lines else _BEGINS.startswith(data[: len(_BEGINS)])):
        raise UsageError(f"{path.name} is no transcript of this tool, or it is damaged; name another file")
    os.truncate(path, len(whole))
    return lines
