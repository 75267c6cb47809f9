"""Signs of why one episode failed, each for one reason, with its weight and the words it rests on; weighed, never the first that fits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

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
_LONG, _ROUND, _TAIL = 1_500, 10, 12
"""Last characters of what the environment said, the turns that limits are multiples of, and last moves in which a cycle shows."""


@cache
def _table() -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]], dict[str, dict[str, float]]]:
    """The words that speak for each reason, other words by name, and what each sign speaks for, in nats."""
    held = table(__file__, "failure_signs.toml")
    reasons, words = ({k: re.compile("|".join(v), re.IGNORECASE) for k, v in held[part].items()} for part in ("reasons", "words"))
    return reasons, words, held["weights"]


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
    """One sign: how much of it there is, the words that it was seen in, and where. What it speaks for stands in the table."""

    name: str
    value: float
    quote: str
    where: str
    turn: int = -1
    """The number (from 0) of the turn that first went wrong; -1 for the last."""


class Reason(NamedTuple):
    """The likeliest reason, its probability among all, and the sign that spoke most for it."""

    name: str
    p: float
    sign: Sign


def reason_of(episode: Episode) -> Reason:
    """The reason that the signs of an episode weigh heaviest for: the sum of what each speaks for it, times how much of it there is."""
    weights, score = _table()[2], defaultdict(float, {UNKNOWN: 0.5})
    signs = list(signs_of(episode))
    for sign in signs:
        for reason, weight in weights.get(sign.name, {}).items():
            score[reason] += weight * sign.value
    best = max(score, key=lambda name: score[name])
    p = float(np.exp(score[best]) / (np.exp(list(score.values())).sum()))
    said = [(weights.get(sign.name, {}).get(best, 0.0) * sign.value, i) for i, sign in enumerate(signs)]
    return Reason(best, p, signs[max(said)[1]] if max(said, default=(0.0, 0))[0] > 0 else Sign(UNKNOWN, 0.0, "", "no words of the model"))


def signs_of(e: Episode) -> Iterator[Sign]:
    """Every sign of an episode, each once."""
    seen: set[str] = set()
    for sign in (s for looked in (_told, _tools, _end, _repetition, _answer, _form, _attack) for s in looked(e)):
        if sign.name not in seen:
            seen.add(sign.name)
            yield sign


def _told(e: Episode) -> Iterator[Sign]:
    """What the file itself says of how the episode ended."""
    if e.cut:
        yield Sign("told truncation", 1.0, "", "cut at the limit")
    for column, text in e.told.items():
        for reason, pattern in _table()[0].items():
            if match := pattern.search(said := _plain(text)):
                yield Sign(f"told {reason}", 1.0, _around(said, match), column)


def _tools(e: Episode) -> Iterator[Sign]:
    """Errors that tools answered: whether the last answer is one or all were got over, and how many there are."""
    answers = _answers(e)
    wrong = [i for i in answers if is_error(e.turns[i])]
    own = [i for i in wrong if not _table()[0]["infrastructure"].search(_error_of(e.turns[i]))]
    if len(own) > 1:
        share = len(own) / len(answers)
        name = "mostly errors" if own[-1] == answers[-1] and share >= _MOSTLY else "errors"
        yield Sign(name, share, e.turns[own[-1]].text[:120], f"{len(own)} of {len(answers)} answers", own[0])
    for reason, pattern in _table()[0].items():
        hits = {i: m for i in wrong if (m := pattern.search(_error_of(e.turns[i])))}
        if not hits:
            continue
        last = max(hits)
        slow = reason == "infrastructure" and _may_be_its_own(e.turns, last)
        since = max((i for i in answers if i < last and i not in hits), default=-1)
        first = min(i for i in hits if i > since)
        name = "own time-out" if slow else f"{'answered' if last == answers[-1] else 'overcome'} {reason}"
        yield Sign(name, 1.0, _around(_error_of(e.turns[last]), hits[last]), f"turn {last + 1}, tool", first)
    unheard = [i for i in answers if _words("unheard").search(e.turns[i].text[:SHORT])]
    if unheard:
        yield Sign(
            "unheard", len(unheard) / len(answers), e.turns[unheard[-1]].text[:120], f"{len(unheard)} of {len(answers)} answers", unheard[0]
        )


def _answers(e: Episode) -> list[int]:
    """The turns of tools, or of whoever else answers the model where there is no tool."""
    return [i for i, t in enumerate(e.turns) if t.role == "tool"] or [i for i, t in enumerate(e.turns) if i and t.role == "user"]


def _end(e: Episode) -> Iterator[Sign]:
    """What the environment says last, or the program around the model, whose traceback stands in the last turn whoever spoke it."""
    *_, last = Turn("tool", "", failed=True), *e.turns
    crash = last.text.rfind("Traceback (most recent call last)")
    text = _plain(last.text[crash:][-SHORT:] if crash >= 0 else last.text[: SHORT if len(last.text) <= SHORT else _OPENING])
    for reason, pattern in _table()[0].items() if last.role != "tool" or not is_error(last) else ():
        match = pattern.search(text)
        # Of the model's own words only a limit counts that speaks in its place.
        if match and (last.role != "assistant" or crash >= 0 or (reason == "truncation" and not match.start())):
            yield Sign(f"ended {reason}", 1.0, _around(text, match), "the last turn")
    heard = next((t.text for t in reversed(e.turns) if t.role != "assistant"), "")[-_LONG:]
    if match := _words("died").search(heard):
        yield Sign("died", 1.0, _around(heard, match), "the environment's last words")


def _may_be_its_own(turns: Sequence[Turn], at: int) -> bool:
    """Whether a time-out may be that of the code the model wrote: a tool that runs code, and nothing but the time that ran out."""
    called = " ".join(next((turn.calls[-1] for turn in reversed(turns[:at]) if turn.calls), ()))
    error = _error_of(turns[at])
    return bool(_words("runs_code").search(called[:60]) and _words("time_out").search(error) and not _words("machine").search(error))


def _repetition(e: Episode) -> Iterator[Sign]:
    """Loops in the last words, and the same calls over and over."""
    said = _said(e)
    if said and (loop := tail_loop(said[-1])) > 0.3:
        yield Sign("loop in words", loop, said[-1][-120:], "its last words")
    done = moves(e.turns)
    made = list(done.values())
    first = list(done)[first_again(made)] if made else -1
    where = f"{len(made)} moves, {len(set(made))} different"
    if (run := identical_run(made)) >= 3:
        yield Sign("the same move in a row", min(run, 5) / 5, str(made[-1][0])[:120], where, first)
    if len(made) >= 4 and (anew := again(made)) > 0.2:
        yield Sign("moves made again", anew, str(made[-1][0])[:120], where, first)
    tail = made[-min(_TAIL, 2 * len(made) // 3) :]
    if len(tail) > 3 and (round_again := again(tail)) >= 0.5:
        yield Sign("ends in a cycle", round_again, str(made[-1][0])[:120], where, first)


def _answer(e: Episode) -> Iterator[Sign]:
    """What the episode ends with, against what it should end with."""
    said = _said(e)
    last = said[-1] if said else ""
    marked, answer = marks(last), final_answer(last) or _handed_in(last)
    given = e.taken or answer
    if same_answer(answer, e.gold) or same_answer(e.taken or "", e.gold):
        yield Sign("the right answer", 1.0, last[-120:], f"its answer is the right one ({e.gold[:40]})")
    elif e.gold and _ends_with(last, e.gold):
        yield Sign(
            "right with marks" if marked else "right without marks", 1.0, last[-120:], f"the right answer ({e.gold[:40]}) in its last words"
        )
    elif e.gold and given:
        near = nearly_same(given, e.gold)
        yield Sign("nearly the right answer" if near else "another answer", 1.0, last[-120:], f"the right answer is {e.gold[:40]}")
    if last:
        changed = [i for i, t in enumerate(e.turns) if any(_words("changes").search(name) for name, _ in t.calls)]
        talks = any(t.role == "user" for t in e.turns)  # what was done for them is done; the words after it are a farewell
        yield Sign("an answer", 1.0, last[-120:], "its last words", changed[-1] if changed and talks else -1)
        if marked or e.taken:
            yield Sign("a marked answer", 1.0, last[-120:], "its last words")
        given_up = _words("gave_up")
        if match := REFUSAL.search(last[-LAST:]) or given_up.search(last[-LAST:]):
            beside = marked and not given_up.search(answer)
            yield Sign("regrets" if beside else "gives up", 1.0, _around(last[-LAST:], match), "its last words")
    else:
        done = _plain(" ".join(next((turn.calls[-1] for turn in reversed(e.turns) if turn.calls), ())))
        at_work = any(said) or moves(e.turns)
        yield Sign(
            "at work" if at_work else "no words", 1.0, done[-120:], "still at work when it ended" if at_work else "no words of the model"
        )
    handed = [
        (i, call) for i, t in enumerate(e.turns) for call in t.calls if len(e.turns) - i <= 4 and _words("gave_up").search(_plain(call[0]))
    ]
    for i, call in handed:
        yield Sign("hands over", 1.0, " ".join(call)[:120], f"turn {i + 1}", i)


def _form(e: Episode) -> Iterator[Sign]:
    """Marks, calls and answers that are no proper ones."""
    said = _said(e)
    last = said[-1] if said else ""
    marked = marks(last)
    wanted = (e.wanted | _asked_marks(e.asked)) - marked
    if e.taken == "" and last:
        yield Sign("nothing taken", 1.0, last[-120:], "the parser took nothing")
    elif wanted and last and not e.taken and e.turns[-1].role == "assistant":
        name = "marks of others missing" if wanted & e.wanted else "other marks" if marked else "asked marks missing"
        yield Sign(name, 1.0, last[-120:], f"no {', '.join(sorted(wanted))}")
    if e.turns and (broken := _broken_call(e.turns[-1])):
        yield Sign("broken call", 1.0, broken, "a call that is no valid one")
    if (
        e.turns
        and e.turns[-1].role == "assistant"
        and not e.turns[-1].text.strip()
        and not any("".join(c).strip() for c in e.turns[-1].calls)
    ):
        yield Sign("empty answer", 1.0, "", "the last turn")


def _attack(e: Episode) -> Iterator[Sign]:
    """Work on the checker, above all where it was paid."""
    for i, turn in enumerate(e.turns):
        written = bounded("\n".join([turn.text, *(body.replace("\\n", "\n") for _, body in turn.calls)]))
        if turn.role == "assistant" and (match := VERIFIER_ATTACK.search(written)):
            yield Sign("work on the checker", 1.0, _around(written, match), f"turn {i + 1}", i)
            break
    if e.paid:
        yield Sign("paid and wrong", 1.0, "", "paid in full and judged wrong")


def same_answer(answer: str, gold: str) -> bool:
    """Whether two short answers are the same: as numbers, else as words."""
    if not answer or not gold:
        return False
    a, b = (re.sub(r"(?<!\\)\\++text\w*|[\s,$%{}]", "", text.lower()).strip(".") for text in (answer, gold))
    try:
        return bool(np.isclose(float(a), float(b), rtol=1e-6))
    except (ValueError, OverflowError):
        return a == b


def nearly_same(answer: str, gold: str) -> bool:
    """Whether one of two short answers says all that the other does and little more, with the same numbers (``42`` and ``42 members``)."""
    a, b = ({w.rstrip("s") or w for w in re.findall(r"\w+", text.lower())} - {"the", "a", "an", "of", "in"} for text in (answer, gold))
    numbers = [{w for w in words if w[0].isdigit()} for words in (a, b)]
    return bool(a and b) and numbers[0] == numbers[1] and (a <= b or b <= a) and max(len(a), len(b)) <= 4 * min(len(a), len(b))


def _handed_in(last: str) -> str:
    """What a last call hands in between its brackets (``finish[Paris]``)."""
    found = re.search(r"[\[(]([^\[\]()]{1,200})[\])]\W{0,3}$", last) if _words("finishes").search(last[-LAST:]) else None
    return found[1] if found else ""


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
    """What the model said turn by turn. A last call that ends the episode, or of a tool not called before, is its last word.

    Else the last word is empty: the episode ended while the model was at work.
    """
    spoken = [turn for turn in e.turns if turn.role == "assistant" and (turn.text.strip() or turn.calls)]
    said = [bounded(turn.text).strip() for turn in spoken]
    waits = bool(e.turns) and e.turns[-1].role == "tool"
    name, call = (spoken[-1].calls[-1][0], " ".join(spoken[-1].calls[-1]).strip()) if spoken and spoken[-1].calls else ("", "")
    if spoken and (call or waits):
        new = bool(call) and not waits and all(name != n for turn in spoken[:-1] for n, _ in turn.calls)
        said.append(call if new or _words("finishes").search(call or said[-1][-LAST:]) else "")
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
