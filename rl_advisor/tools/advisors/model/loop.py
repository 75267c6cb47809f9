"""The loop that lets a model look at one run until it hands in a judgement; it knows no provider, so every provider gets the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from rl_advisor.finding import Assessment
from rl_advisor.output.budget import tokens
from rl_advisor.tools.advisors.model.ledger import Ledger
from rl_advisor.tools.advisors.model.signing import ANSWER, Held, held, parsed
from rl_advisor.tools.advisors.model.toolbox import Toolbox
from rl_advisor.tools.advisors.model.turns import Ask, Conversation, Entry, Unavailable, Usage

MOST_TURNS, MOST_CALLS, MOST_MALFORMED = 40, 16, 3
LONGEST_CONVERSATION, LONGEST_COMPLAINT = 180_000, 3000
CLOSING = (
    f"This is your last turn: the budget ends here. Call {ANSWER} now with what you know; say under could_not_see what you did not look at."
)
NUDGE = f"Nothing was handed in. Look at what you still need, then call {ANSWER} with your judgement."


@dataclass(kw_only=True)
class Session(Conversation):
    """A conversation with everything that it needs."""

    bench: Toolbox
    base: Assessment
    connected: Callable[[], Ask]
    """Gives what asks the model."""
    ledger: Ledger
    keep: Callable[[Entry], None]
    """Writes an entry where it survives a crash."""
    note: Callable[[str], None]
    """Tells a person what is happening."""
    seen: list[tuple[str, Any]] = field(default_factory=list)
    """Answers of tools with the tool's name, on which the model's claims may rest."""


@dataclass(frozen=True)
class Ended:
    """How it ended: what was said, or why nothing was."""

    said: Held | None
    why: str = ""


def recall(session: Session, entries: list[Entry]) -> None:
    """Take up a conversation where it stopped: what was paid for is counted, not asked again."""
    session.entries = entries
    called: dict[str, str] = {}
    for entry in entries:
        if entry["role"] == "model":
            session.ledger = session.ledger.plus(Usage(**entry["usage"]))
            called = {c["id"]: c["name"] for c in entry["calls"]}
        session.seen += [(called.get(r["id"], ""), orjson.loads(r["answer"])) for r in entry.get("results", ()) if not r["failed"]]


def converse(session: Session) -> Ended:
    """Ask, answer the model's calls, ask again; until a judgement stands, a cap is reached or the model fails."""
    while True:
        entries = session.entries
        if entries[-1]["role"] == "model":
            ended = _react(session, entries[-1])
            if ended is not None:
                return ended
            continue
        if sum(e["role"] == "model" for e in entries) >= MOST_TURNS:
            return Ended(None, "it came to no end within the allowed number of turns")
        why = _make_room(session)
        if why:
            return Ended(None, why)
        try:
            turn = session.connected()(session)
        except Unavailable as refused:
            return Ended(None, str(refused))
        session.ledger = session.ledger.plus(Usage(**turn["usage"]))
        _add(session, turn)


def _make_room(session: Session) -> str:
    """Set how much the next turn may write, and say so when it is the last that fits; a reason when none fits."""
    sent = _size(session)
    if sent > LONGEST_CONVERSATION:
        return "the conversation grew too long"
    session.room = session.ledger.room(sent)
    if not session.room:
        return "its budget was used up before it came to a judgement"
    # The turn after this one sends all this again, what is written now, and what tools will answer.
    after = session.ledger.plus(Usage(fresh=sent, written=session.room // 4)).room(sent + 5000)
    last = session.entries[-1]
    if not after and CLOSING not in last.get("text", ""):
        last["text"] = "\n\n".join(filter(None, (last.get("text", ""), CLOSING)))
    return ""


def _size(conversation: Conversation) -> int:
    """Tokens of the next request, estimated from above; of what is far too long no more is told."""
    if len(orjson.dumps(conversation.entries)) > 12 * LONGEST_CONVERSATION:
        return LONGEST_CONVERSATION + 1
    said = tokens(conversation.instructions) + sum(tokens(e.get("raw") or e) for e in conversation.entries)
    return said + sum(tokens({"d": t.description, "s": dict(t.schema)}) for t in conversation.tools) + 500


def _react(session: Session, entry: Entry) -> Ended | None:
    """Answer a model's turn; an ending when it handed in a judgement that stands, or cannot."""
    if entry["ending"] == "refused":
        return Ended(None, "the model declined to answer")
    calls = entry["calls"]
    if not calls and (written := _json_in(entry["text"])) is not None:  # as models do that were not taught to call tools
        said, complaint, kind = _weighed(session, written)
        return Ended(said) if said is not None else _pushed(session, complaint, kind)
    if not calls:
        return _pushed(session, NUDGE if entry["ending"] == "done" else f"Your turn was cut off at its length. Be brief. {NUDGE}")
    results = []
    for n, call in enumerate(calls):
        if call["name"] == ANSWER:
            said, complaint, kind = _weighed(session, call["arguments"])
            if said is not None:
                return Ended(said)
            results.append({"id": call["id"], "answer": complaint, "failed": kind})
        elif n >= MOST_CALLS:
            results.append({"id": call["id"], "answer": '{"mistake":"too many calls in one turn"}', "failed": "tool"})
        else:
            session.note(f"looks at {call['name']}" if call["name"].isidentifier() else "names a tool that does not exist")
            answer, failed = session.bench.call(call["name"], call["arguments"])
            session.seen += [] if failed else [(call["name"], answer)]
            results.append({"id": call["id"], "answer": orjson.dumps(answer).decode(), "failed": "tool" if failed else ""})
    _add(session, {"role": "results", "results": results})
    return _given_up(session)


def _weighed(session: Session, arguments: Any) -> tuple[Held | None, str, str]:
    """A judgement held to the log, or the complaint to send back and its kind; what the log does not bear out is complained about once."""
    said = parsed(arguments) if arguments is not None else ["the arguments were no JSON object"]
    if isinstance(said, list):
        return None, orjson.dumps({"mistake": said, "do": f"Call {ANSWER} again with this put right."}).decode(), "malformed"
    stands = held(said, session.base, session.bench, session.seen)
    if not stands.complaints or "unsupported" in _failures(session):
        return stands, "", ""
    session.note(f"{len(stands.complaints)} points that the log does not bear out; shown to the model once")
    do = f"Put these right or take them out, then call {ANSWER} again with the whole judgement. What still fails is left out."
    told = session.bench.safe({"do": do, "not_borne_out": stands.complaints}, LONGEST_COMPLAINT)
    return None, orjson.dumps(told).decode(), "unsupported"


def _pushed(session: Session, text: str, failed: str = "malformed") -> Ended | None:
    _add(session, {"role": "user", "text": text, "failed": failed})
    return _given_up(session)


def _given_up(session: Session) -> Ended | None:
    """An ending when the model was corrected too often."""
    return Ended(None, "its answers could not be read") if _failures(session).count("malformed") >= MOST_MALFORMED else None


def _failures(session: Session) -> list[str]:
    """What was complained about so far, tools aside."""
    kinds = [e.get("failed", "") for e in session.entries]
    kinds += [r["failed"] for e in session.entries for r in e.get("results", ())]
    return [k for k in kinds if k in {"malformed", "unsupported"}]


def _json_in(text: str) -> Any:
    """The JSON object that a text is, with or without a fence around it; None when it is none."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or '"verdict"' not in text:
        return None
    try:
        return orjson.loads(text[begin : end + 1])
    except orjson.JSONDecodeError:
        return None


def _add(session: Session, entry: Entry) -> None:
    session.keep(entry)
    session.entries.append(entry)
