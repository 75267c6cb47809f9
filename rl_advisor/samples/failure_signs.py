"""Signs of why one episode failed, each for one reason, with its weight and the words it rests on; weighed, never the first that fits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features.text.behaviour import is_error, moves
from rl_advisor.features.text.measures import bounded, fields, final_answer
from rl_advisor.features.text.phrases import REFUSAL, VERIFIER_ATTACK
from rl_advisor.features.text.repetition import again, first_again, identical_run, tail_loop
from rl_advisor.features.text.turns import Turn

SHORT, LAST = 600, 300
"""Characters up to which a tool's answer can be an error and nothing else, and of the last words that are looked at."""
_MOSTLY, _OPENING = 0.75, 120
"""Share of errors from which the calls are to blame, and characters looked at of a long last turn."""
UNKNOWN = "not told"


@cache
def _table() -> tuple[list[dict[str, Any]], dict[str, re.Pattern[str]]]:
    """The reasons with the ``pattern`` of words that speak for each, and other words by name."""
    held = table(__file__, "failure_signs.toml")
    patterns = {name: re.compile("|".join(listed), re.IGNORECASE) for name, listed in held["words"].items()}
    return [{**s, "pattern": re.compile("|".join(s["patterns"]), re.IGNORECASE)} for s in held["sign"]], patterns


def _words(name: str) -> re.Pattern[str]:
    return _table()[1][name]


def is_word(name: str, text: str) -> bool:
    """Whether words of a name of the table (``won``, ``lost``) stand in a text."""
    return _words(name).search(text) is not None


class Episode(NamedTuple):
    """What is known of one episode: its turns, what the file says of its end by column, the right answer, and what its kin have."""

    turns: Sequence[Turn]
    told: Mapping[str, str] = {}
    gold: str = ""
    cut: bool = False
    paid: bool = False
    wanted: frozenset[str] = frozenset()
    """Marks (``answer``, ``boxed``) that nearly all paid responses have."""
    asked: str = ""
    taken: str | None = None
    """What the grader's parser took for the answer, '' for nothing; None where that is not logged."""


class Sign(NamedTuple):
    """One sign: the reason it speaks for, how strongly (in nats), and the words that it was seen in."""

    reason: str
    weight: float
    quote: str
    where: str
    turn: int = -1
    """The number (from 0) of the turn that first went wrong; -1 for the last."""


class Reason(NamedTuple):
    """The likeliest reason, its probability among all, and its strongest sign."""

    name: str
    p: float
    sign: Sign


def reason_of(episode: Episode) -> Reason:
    """The reason that the signs of an episode weigh heaviest for. Of several signs of one reason the strongest counts, others a third."""
    strongest: dict[str, Sign] = {}
    weights: dict[str, float] = defaultdict(float)
    for sign in sorted((s for looked in _LOOKED for s in looked(episode)), key=lambda s: -s.weight):
        weights[sign.reason] += sign.weight / (3 if sign.reason in strongest else 1)
        strongest.setdefault(sign.reason, sign)
    best = max(weights, key=lambda name: weights[name])
    p = float(np.exp(weights[best]) / (np.exp(list(weights.values())).sum() + 1.0))
    return Reason(best, p, strongest[best])


def _told(e: Episode) -> Iterator[Sign]:
    """What the file itself says of how the episode ended."""
    for column, text in {**e.told, **({"cut at the limit": "length"} if e.cut else {})}.items():
        for words in _table()[0]:
            if match := words["pattern"].search(said := _plain(text)):
                yield Sign(words["reason"], words["told"], _around(said, match), column)


def _tools(e: Episode) -> Iterator[Sign]:
    """Errors that tools answered: the last answer counts in full, one that was overcome hardly."""
    answers = [i for i, turn in enumerate(e.turns) if turn.role == "tool"] or [i for i, t in enumerate(e.turns) if i and t.role == "user"]
    wrong = [i for i in answers if is_error(e.turns[i])]
    if len(wrong) > 1 and wrong[-1] == answers[-1] and len(wrong) >= _MOSTLY * len(answers):
        yield Sign("tool misuse", 2.0 + 2 * e.cut, e.turns[wrong[-1]].text[:120], f"{len(wrong)} of {len(answers)} answers", wrong[0])
    for words in _table()[0]:
        reason, strong = words["reason"], words.get("answered", 0.0)
        hits = {i: m for i in wrong if strong and (m := words["pattern"].search(_error_of(e.turns[i])))}
        if not hits:
            continue
        last = max(hits)
        weight = strong if last == answers[-1] else 0.3
        if reason == "infrastructure" and _may_be_its_own(e.turns, last):
            reason, weight = "tool misuse", weight / 5
        since = max((i for i in answers if i < last and i not in hits), default=-1)
        first = min(i for i in hits if i > since)
        yield Sign(reason, weight, _around(_error_of(e.turns[last]), hits[last]), f"turn {last + 1}, tool", first)


def _end(e: Episode) -> Iterator[Sign]:
    """What the environment says last, or the program around the model, whose traceback stands in the last turn whoever spoke it."""
    *_, last = Turn("tool", "", failed=True), *e.turns
    crash = last.text.rfind("Traceback (most recent call last)")
    text = _plain(last.text[crash:][-SHORT:] if crash >= 0 else last.text[: SHORT if len(last.text) <= SHORT else _OPENING])
    for words in _table()[0] if last.role != "tool" or not is_error(last) else ():
        match = words["pattern"].search(text) if "ended" in words else None
        # Of the model's own words only a limit counts that speaks in its place.
        if match and (last.role != "assistant" or crash >= 0 or (words["reason"] == "truncation" and not match.start())):
            yield Sign(words["reason"], words["ended"], _around(text, match), "the last turn")


def _may_be_its_own(turns: Sequence[Turn], at: int) -> bool:
    """Whether a time-out may be that of the code the model wrote: a tool that runs code, and nothing but the time that ran out."""
    called = " ".join(next((turn.calls[-1] for turn in reversed(turns[:at]) if turn.calls), ()))
    error = _error_of(turns[at])
    return bool(_words("runs_code").search(called[:60]) and _words("time_out").search(error) and not _words("machine").search(error))


def _repetition(e: Episode) -> Iterator[Sign]:
    """Loops in the last words, and the same calls over and over."""
    said = _said(e)
    if said and (loop := tail_loop(said[-1])) > 0.3:
        yield Sign("looped", 3.0 + 2 * loop, said[-1][-120:], "its last words")
    done = moves(e.turns)
    made = list(done.values())
    run, anew = identical_run(made), again(made)
    weight = max(1.0 * run - 0.5 if run >= 3 else 0.0, 6 * anew if len(made) >= 6 and anew >= 0.5 else 0.0)
    if weight:
        first = list(done)[first_again(made)]
        yield Sign("looped", min(weight, 4.5) + e.cut, str(made[-1][0])[:120], f"{len(made)} moves, {len(set(made))} different", first)


def _answer(e: Episode) -> Iterator[Sign]:
    """What the episode ends with, against what it should end with."""
    said = _said(e)
    last = said[-1] if said else ""
    marked = marks(last)
    answer = final_answer(last)
    wanted = (e.wanted | _asked_marks(e.asked)) - marked
    right = same_answer(answer, e.gold) or same_answer(e.taken or "", e.gold)
    if right:
        yield Sign("grader", 5.0, last[-120:], f"its answer is the right one ({e.gold[:40]})")
    elif e.gold and not marked and _ends_with(last, e.gold):
        yield Sign("grader", 4.0, last[-120:], f"the right answer ({e.gold[:40]}) outside the marks")
    if e.taken == "" and last:
        yield Sign("format", 3.0, last[-120:], "the parser took nothing")
    elif wanted and last and not e.taken and e.turns[-1].role == "assistant":
        yield Sign("format", 3.0 if wanted & e.wanted else 1.0 if marked else 2.5, last[-120:], f"no {', '.join(sorted(wanted))}")
    if e.turns and (broken := _broken_call(e.turns[-1])):
        yield Sign("format", 2.5, broken, "a call that is no valid one")
    given_up = _words("gave_up")
    if match := REFUSAL.search(last[-LAST:]) or given_up.search(last[-LAST:]):
        yield Sign("gave up", 0.5 if marked and not given_up.search(answer) else 3.6, _around(last[-LAST:], match), "its last words")
    if last:
        other = bool(e.gold and answer) and not right
        yield Sign("wrong answer", 1.0 + 0.7 * bool(marked or e.taken) + 0.8 * other, last[-120:], "its last words")
    elif any(said) or moves(e.turns):
        call = _plain(" ".join(next((turn.calls[-1] for turn in reversed(e.turns) if turn.calls), ())))
        yield Sign("gave up" if given_up.search(call) else "truncation", 1.2, call[-120:], "still at work when it ended")
    else:
        yield Sign(UNKNOWN, 0.5, "", "no words of the model")


def _attack(e: Episode) -> Iterator[Sign]:
    """Work on the checker, above all where it was paid."""
    for i, turn in enumerate(e.turns):
        written = bounded("\n".join([turn.text, *(body.replace("\\n", "\n") for _, body in turn.calls)]))
        if turn.role == "assistant" and (match := VERIFIER_ATTACK.search(written)):
            yield Sign("hacked", 3.5, _around(written, match), f"turn {i + 1}", i)
            break
    if e.paid:
        yield Sign("hacked", 2.5, "", "paid in full and judged wrong")


_LOOKED = (_told, _tools, _end, _repetition, _answer, _attack)


def same_answer(answer: str, gold: str) -> bool:
    """Whether two short answers are the same: as numbers, else as words."""
    if not answer or not gold:
        return False
    a, b = (re.sub(r"(?<!\\)\\++text\w*|[\s,$%{}]", "", text.lower()).strip(".") for text in (answer, gold))
    try:
        return bool(np.isclose(float(a), float(b), rtol=1e-6))
    except (ValueError, OverflowError):
        return a == b


def _ends_with(text: str, gold: str) -> bool:
    """Whether the last number or the last words of a text are the right answer."""
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text[-LAST:])
    return same_answer(numbers[-1] if numbers else "", gold) or text.lower().rstrip(". \n").endswith(gold.lower())


def marks(text: str) -> frozenset[str]:
    """The marks whose body a response gives: tags that are closed, boxes."""
    return frozenset(name for name, body in fields(text) if body and name not in ("tool_call", "think", "tool_response"))


def _asked_marks(prompt: str) -> set[str]:
    return {
        m.lower()
        for m in re.findall(r"(?:<(?=\w+>)|\\(?=boxed))(answer|final_answer|solution|final|boxed)\b", prompt[-4_000:], re.IGNORECASE)
    }


def _broken_call(turn: Turn) -> str:
    """The last turn's call where it was opened and never closed, or closed and never opened."""
    opened, closed = (turn.text.rfind(mark) for mark in ("<tool_call>", "</tool_call>"))
    broken = turn.role == "assistant" and (opened > closed or opened < 0 <= closed)
    return turn.text[max(opened, closed - 120) :][:120] if broken else ""


def _said(e: Episode) -> list[str]:
    """What the model said turn by turn. A last call that ends the episode or waits for no result is its last word; else that is empty."""
    spoken = [turn for turn in e.turns if turn.role == "assistant" and (turn.text.strip() or turn.calls)]
    said = [bounded(turn.text).strip() for turn in spoken]
    waits = bool(e.turns) and e.turns[-1].role == "tool"
    call = " ".join(spoken[-1].calls[-1]).strip() if spoken and spoken[-1].calls else ""
    if spoken and (call or waits):
        said.append(call if (call and not waits) or _words("finishes").search(call or said[-1][-LAST:]) else "")
    return said


def _error_of(turn: Turn) -> str:
    """The words of an error: the last line of a traceback, else its beginning."""
    text = turn.text.strip()
    return _plain(text.splitlines()[-1] if text.startswith("Traceback") else text[:SHORT])


def _plain(text: str) -> str:
    """Names as words: ``SandboxOOMError`` and ``context_length_exceeded`` in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text[:2_000]).replace("_", " ")


def _around(text: str, match: re.Match[str], reach: int = 60) -> str:
    return " ".join(text[max(0, match.start() - reach) : match.end() + reach].split())


def told_in(cells: Iterable[tuple[str, object]], *, deeper: bool = True) -> dict[str, str]:
    """The cells that say how an episode ended: short texts in columns named for it, also inside a mapping."""
    found: dict[str, str] = {}
    for name, value in cells:
        bare = name.removeprefix("other/")
        if isinstance(value, Mapping) and deeper:
            found |= {f"{bare}.{k}": v for k, v in told_in(((str(k), v) for k, v in list(value.items())[:50]), deeper=False).items()}
        elif isinstance(value, str) and 0 < len(value) <= SHORT and _words("ends").search(bare):
            found[bare] = value
    return found
