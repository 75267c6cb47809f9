"""The loop that lets a model look at one run until it hands in a judgement; it knows no provider, so every provider gets the same."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from rl_advisor.finding import Assessment
from rl_advisor.output.budget import tokens
from rl_advisor.output.clean import readable
from rl_advisor.output.errors import complaints
from rl_advisor.tools.advisors.model.ledger import Ledger
from rl_advisor.tools.advisors.model.signing import ANSWER, ModelAnswer, held
from rl_advisor.tools.advisors.model.toolbox import Toolbox
from rl_advisor.tools.advisors.model.turns import Ask, Conversation, Entry, Unavailable

MOST_TURNS, MOST_CALLS, MOST_MALFORMED = 40, 16, 3
LONGEST_CONVERSATION, LONGEST_COMPLAINT = 180_000, 3000
CLOSING = (
    f"This is your last turn: the budget ends here. Call {ANSWER} now with what you know; say under could_not_see what you did not look at."
)
NUDGE = f"Nothing was handed in. Look at what you still need, then call {ANSWER} with your judgement."


@dataclass(kw_only=True)
class Session(Conversation):
    """A conversation with everything that it needs. What was paid and seen stands in its entries, so one that was cut off just goes on."""

    advisor: str
    bench: Toolbox
    base: Assessment
    connected: Callable[[], Ask]
    """Gives what asks the model."""
    caps: Ledger
    path: Path | None
    """Where the entries are kept, so that they survive a crash."""

    @property
    def ledger(self) -> Ledger:
        """What was spent so far, and what may be."""
        return self.caps.plus(sum((Counter(e["usage"]) for e in self.entries if "usage" in e), Counter()))

    @property
    def results(self) -> list[Entry]:
        """What the calls so far gave: answers of tools, on which claims may rest, and complaints."""
        return [result for entry in self.entries for result in entry.get("results", ())]

    def add(self, entry: Entry) -> None:
        """Go on with an entry."""
        append(self.path, entry)
        self.entries.append(entry)

    def note(self, text: str) -> None:
        """Tell the person at the terminal what is happening."""
        sys.stderr.write(f"rl-advisor: {self.advisor}: {readable(text, 500)}\n")


def append(path: Path | None, entry: Entry) -> None:
    """Write one line to the disk itself, where a file is named, before coming back."""
    if path is None:
        return
    with path.open("ab") as file:
        file.write(orjson.dumps(entry) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def converse(session: Session) -> Assessment:
    """Ask, answer the model's calls, ask again, until a judgement stands.

    Raises:
        Unavailable: a cap is reached, or the model fails; the message says which.
    """
    while True:
        last = session.entries[-1]
        if last["role"] == "model":
            if (stands := _react(session, last)) is not None:
                return stands
            if _failures(session).count("malformed") >= MOST_MALFORMED:
                raise Unavailable("its answers could not be read")
        elif sum(e["role"] == "model" for e in session.entries) >= MOST_TURNS:
            raise Unavailable("it came to no end within the allowed number of turns")
        else:
            _make_room(session, last)
            session.add(session.connected()(session))


def _make_room(session: Session, last: Entry) -> None:
    """Set how much the next turn may write, and say so when it is the last that fits.

    Raises:
        Unavailable: none fits.
    """
    sent, ledger = _size(session), session.ledger
    if sent > LONGEST_CONVERSATION:
        raise Unavailable("the conversation grew too long")
    session.room = ledger.room(sent)
    if not session.room:
        raise Unavailable("its budget was used up before it came to a judgement")
    # The turn after this one sends all this again, what is written now, and what tools will answer.
    after = ledger.plus(Counter(fresh=sent, written=session.room // 4)).room(sent + 5000)
    if not after and CLOSING not in last.get("text", ""):
        last["text"] = f"{last.get('text', '')}\n\n{CLOSING}".lstrip()


def _size(conversation: Conversation) -> int:
    """Tokens of the next request, estimated from above; of what is far too long no more is told."""
    if len(orjson.dumps(conversation.entries)) > 12 * LONGEST_CONVERSATION:
        return LONGEST_CONVERSATION + 1
    said = tokens(conversation.instructions) + sum(tokens(e.get("raw") or e) for e in conversation.entries)
    return said + sum(tokens({"d": t.description, "s": dict(t.schema)}) for t in conversation.tools) + 500


def _react(session: Session, entry: Entry) -> Assessment | None:
    """Answer a model's turn; the judgement where it handed one in that stands."""
    if entry["ending"] == "refused":
        raise Unavailable("the model declined to answer")
    if not entry["calls"]:
        written = _json_in(entry["text"])  # as models do that were not taught to call tools
        nudge = NUDGE if entry["ending"] == "done" else f"Your turn was cut off at its length. Be brief. {NUDGE}"
        stands, text, kind = (None, nudge, "malformed") if written is None else _weighed(session, written)
        if stands is None:
            session.add({"role": "user", "text": text, "failed": kind})
        return stands
    results: list[Entry] = []
    for n, call in enumerate(entry["calls"]):
        if call["name"] == ANSWER:
            stands, answer, failed = _weighed(session, call["arguments"], results)
            if stands is not None:
                return stands
        elif n >= MOST_CALLS:
            answer, failed = '{"mistake":"too many calls in one turn"}', "tool"
        else:
            session.note(f"looks at {call['name']}" if call["name"].isidentifier() else "names a tool that does not exist")
            given, mistaken = session.bench.call(call["name"], call["arguments"])
            answer, failed = orjson.dumps(given).decode(), "tool" if mistaken else ""
        results.append({"id": call["id"], "name": call["name"], "answer": answer, "failed": failed})
    session.add({"role": "results", "results": results})
    return None


def _weighed(session: Session, arguments: Any, fresh: Sequence[Entry] = ()) -> tuple[Assessment | None, str, str]:
    """A judgement held to the log and to the ``fresh`` results of its turn, or a complaint and its kind: once, of what is not borne out."""
    try:
        said = ModelAnswer.model_validate(arguments)
    except ValidationError as wrong:
        told = {"mistake": complaints(wrong), "do": f"Call {ANSWER} again with this put right."}
        return None, orjson.dumps(told).decode(), "malformed"
    seen = [(r["name"], orjson.loads(r["answer"])) for r in (*session.results, *fresh) if not r["failed"]]
    signed, struck = held(said, session.base, session.bench, seen)
    if not struck or "unsupported" in _failures(session):
        return signed, "", ""
    session.note(f"{len(struck)} points that the log does not bear out; shown to the model once")
    do = f"Put these right or take them out, then call {ANSWER} again with the whole judgement. What still fails is left out."
    told = session.bench.safe({"do": do, "not_borne_out": struck}, LONGEST_COMPLAINT)
    return None, orjson.dumps(told).decode(), "unsupported"


def _failures(session: Session) -> list[str]:
    """The kinds of what was complained about so far."""
    return [e["failed"] for e in (*session.entries, *session.results) if "failed" in e]


def _json_in(text: str) -> Any:
    """The JSON object that a text is, with or without a fence around it; None when it is none."""
    try:
        return orjson.loads(text[text.find("{") : text.rfind("}") + 1])
    except orjson.JSONDecodeError:
        return None
