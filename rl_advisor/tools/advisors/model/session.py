"""One judgement by a model from beginning to end: instructions, transcript, caps, the loop, and what to sign when it fails.

The transcript is the conversation on disk, one line a turn, so that nothing that was paid for is asked twice after a crash.
"""

import hashlib
import os
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
from rl_advisor.tools.advisors.model.loop import Session, append, converse
from rl_advisor.tools.advisors.model.signing import answer_tool
from rl_advisor.tools.advisors.model.toolbox import Toolbox, tools
from rl_advisor.tools.advisors.model.turns import Ask, Entry, Unavailable

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
    session = _open(advisor, Toolbox(run, base.findings), base, connect, wished)
    try:
        return converse(session)
    except Unavailable as none:
        session.note(f"{none}; the built-in advisor answers instead.")
        line = f"The {advisor} advisor gave no judgement: {readable(str(none), 300)}. This is the built-in advisor's."
        return base.model_copy(update={"could_not_see": [*base.could_not_see, line], "words": line})
    finally:
        if session.ledger.spent:
            session.note(f"{wished.model}: {session.ledger.said()}")


def _open(advisor: str, bench: Toolbox, base: Assessment, connect: Callable[[], Ask], wished: ModelOptions) -> Session:
    """The session, begun or taken up from its transcript."""
    price = price_of(wished.model)
    if wished.max_cost is not None and price is None:
        raise UsageError(
            f"the price of {wished.model} is not known, so a cap in money cannot be kept; "
            f"set {PRICE_VARIABLE}=INPUT,OUTPUT (dollars for a million tokens) or cap the tokens instead"
        )
    path = None if wished.transcript is None else Path(wished.transcript)
    measured = hashlib.sha256(base.model_dump_json().encode()).hexdigest()[:16]
    about = {"advisor": advisor, "model": wished.model, "run": readable(bench.run.name, 200), "step": base.step, "measured": measured}
    session = Session(
        instructions=f"{shipped.prompt('model_advisor')}\n{shipped.skill_pages()['SKILL.md'].split('---', 2)[-1].strip()}",
        tools=(*tools(), answer_tool()),
        advisor=advisor,
        bench=bench,
        base=base,
        connected=cache(connect),  # with the first question: a finished transcript needs no key
        caps=Ledger(price, wished.max_cost, wished.max_tokens),
        path=path,
        entries=resume(path, about) if path else [],
    )
    if not session.entries:
        session.add({"role": "user", "text": QUESTION})
    return session


SCHEMA = "rl-advisor/transcript/2"
_BEGINS = b'{"schema":'


def resume(path: Path, about: dict[str, Any]) -> list[Entry]:
    """The entries of a conversation that was begun about the same thing; empty, with the file begun, when there is none.

    A last line that was not written to its end is cut off the file.

    Raises:
        NoSuchChoice: the file is about something else, or is no transcript.
    """
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the transcript in")
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    try:
        lines: list[Entry] = [dict(orjson.loads(line)) for line in whole.splitlines()]
    except (ValueError, TypeError):
        lines = [{}]
    if not (lines[0].get("schema") == SCHEMA if lines else _BEGINS.startswith(data[: len(_BEGINS)])):
        raise UsageError(f"{path.name} is no transcript of this tool, or it is damaged; name another file")
    if other := [key for key, value in about.items() if lines and lines[0].get(key) != value]:
        raise UsageError(f"the transcript {path.name} is of another {' and '.join(other)}; name another file or remove it")
    if whole != data:
        os.truncate(path, len(whole))
    if not lines:
        append(path, {"schema": SCHEMA, **about})
    return lines[1:]
