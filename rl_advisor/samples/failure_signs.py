"""Signs of why one episode failed, with the words they rest on; what each speaks for is a table, and they are weighed together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features.text.behaviour import is_error, moves
from rl_advisor.features.text.measures import bounded, final_answer, words
from rl_advisor.features.text.phrases import REFUSAL, VERIFIER_ATTACK
from rl_advisor.features.text.repetition import again, first_again, identical_run, repeated_share, tail_loop
from rl_advisor.features.text.turns import Turn
from rl_advisor.samples.same_answers import LAST, likeness, marks

SHORT = 600
"""Characters up to which a tool's answer can be an error and nothing else."""
_MOSTLY, _OPENING = 0.75, 120
"""Share of errors from which the calls are to blame, and characters looked at of a long last turn."""
UNKNOWN = "not told"
_LONG, _ROUND, _TAIL = 1_500, 10, 12
"""Last characters of what the environment said, the turns that limits are multiples of, and last moves in which a cycle shows."""
_SAME_WORDS = 0.6
"""Share of runs of words that were there before, from which words go round."""
_REPEATS = {"the same move in a row": 0.6, "moves made again": 0.2, "ends in a cycle": 0.5}
"""Shares from which repeated moves are a sign."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_ASKED = re.compile(r"(?:<(?=\w+>)|\\(?=boxed))(answer|final_answer|solution|final|boxed)\b")
"""Marks that a prompt asks for."""
_HANDED_IN = re.compile(r"[\[(]([^\[\]()]{1,200})[\])]\W{0,3}$")
"""What a last call hands in (``finish[Paris]``)."""


_HELD = table(__file__, "failure_signs.toml")
_REASONS, _WORDS = ({k: re.compile("|".join(v), re.IGNORECASE) for k, v in _HELD[part].items()} for part in ("reasons", "words"))
"""The words that speak for each reason, and other words by name."""
_WEIGHTS: Mapping[str, Mapping[str, float]] = _HELD["weights"]
"""What each sign speaks for, in nats."""


def is_word(name: str, text: str) -> bool:
    """Whether words of a name of the table (``won``, ``lost``) stand in a text."""
    return _WORDS[name].search(text) is not None


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
    """One sign: the words that it was seen in, where, and how much of it there is. What it speaks for stands in the table."""

    name: str
    quote: str
    where: str
    turn: int = -1
    """The number (from 0) of the turn that first went wrong; -1 for the last."""
    value: float = 1.0


class Reason(NamedTuple):
    """The likeliest reason, its probability among all, and where and in which words the sign was seen that spoke most for it."""

    reason: str
    p: float
    quote: str
    where: str
    turn: int


def reason_of(episode: Episode) -> Reason:
    """The reason that the signs of an episode weigh heaviest for: the sum of what each speaks for it, times how much of it there is."""
    score, most = defaultdict(float, {UNKNOWN: 0.5}), {UNKNOWN: (0.0, Sign(UNKNOWN, "", "no words of the model"))}
    looked, last = (_said_of_it, _errors, _repetition, _answer, _form, _attack), _last_words(episode)
    for sign in {sign.name: sign for look in looked for sign in look(episode, last)}.values():
        for reason, weight in _WEIGHTS.get(sign.name, {}).items():
            score[reason] += weight * sign.value
            most[reason] = max(most.get(reason, (0.0, sign)), (weight * sign.value, sign), key=itemgetter(0))
    best = max(score, key=lambda name: score[name])
    _, quote, where, turn, _ = most[best][1]
    return Reason(best, float(np.exp(score[best]) / np.exp(list(score.values())).sum()), quote, where, turn)


def _said_of_it(e: Episode, _: str) -> Iterator[Sign]:
    """What the file, the tools that failed and the end say in words that speak for a reason."""
    for place, where, turn, text in _places(e):
        for reason, pattern in _REASONS.items():
            # Of the model's own words only those count that a limit speaks in its place.
            if match := (pattern.match if place == "spoken" else pattern.search)(text):
                yield Sign(f"{place} {reason}", _around(text, match), where, turn)


def _places(e: Episode) -> Iterator[tuple[str, str, int, str]]:
    """Where such words are looked for: the place and its name, the turn that first went wrong, and the text; what counts most last."""
    answers, first = _answers(e), -1
    yield "heard", "the environment's last words", -1, next((t.text for t in reversed(e.turns) if t.role != "assistant"), "")[-_LONG:]
    for i in answers:
        if not is_error(e.turns[i]):
            first = -1
            continue
        first = i if first < 0 else first
        place = "own" if _may_be_its_own(e.turns, i) else "answered" if i == answers[-1] else "overcome"
        yield place, f"turn {i + 1}, tool", first, _error_of(e.turns[i])
    *_, last = Turn("tool", "", failed=True), *e.turns
    crash = last.text.rfind("Traceback (most recent call last)")
    text = last.text[crash:][-SHORT:] if crash >= 0 else last.text[: SHORT if len(last.text) <= SHORT else _OPENING]
    if last.role != "tool" or not is_error(last):
        yield "spoken" if last.role == "assistant" and crash < 0 else "ended", "the last turn", -1, _plain(text)
    for column, said in {**e.told, **({"cut at the limit": "length"} if e.cut else {})}.items():
        yield "told", column, -1, _plain(said)


def _answers(e: Episode) -> list[int]:
    """The turns of tools, or of whoever else answers the model where there is no tool."""
    return [i for i, t in enumerate(e.turns) if t.role == "tool"] or [i for i, t in enumerate(e.turns) if i and t.role == "user"]


def _errors(e: Episode, _: str) -> Iterator[Sign]:
    """Which share of the answers are errors of the calls, and to which the environment says that it could not make out the action."""
    answers, lost = _answers(e), _REASONS["infrastructure"]
    wrong = [i for i in answers if is_error(e.turns[i]) and not lost.search(_error_of(e.turns[i]))]
    unheard = [i for i in answers if _WORDS["unheard"].search(e.turns[i].text[:SHORT])]
    mostly = len(wrong) > 1 and wrong[-1] == answers[-1] and len(wrong) >= _MOSTLY * len(answers)
    for name, some in (("mostly errors", wrong if mostly else []), ("unheard", unheard)):
        if some:
            quote, where = e.turns[some[-1]].text[:120], f"{len(some)} of {len(answers)} answers"
            yield Sign(name, quote, where, some[0], len(some) / len(answers))


def _may_be_its_own(turns: Sequence[Turn], at: int) -> bool:
    """Whether a time-out may be that of the code the model wrote: a tool that runs code, and nothing but the time that ran out."""
    called = " ".join(next((turn.calls[-1] for turn in reversed(turns[:at]) if turn.calls), ()))
    error = _error_of(turns[at])
    return bool(_WORDS["runs_code"].search(called[:60]) and _WORDS["time_out"].search(error) and not _WORDS["machine"].search(error))


def _repetition(e: Episode, last: str) -> Iterator[Sign]:
    """Loops in the last words, and the same calls over and over."""
    again_and_again = repeated_share(words(last[-_LONG:]))
    if (loop := max(tail_loop(last), again_and_again if again_and_again > _SAME_WORDS else 0.0)) > 0.3:
        yield Sign("loop in words", last[-120:], "its last words", value=loop)
    done = moves(e.turns)
    if len(done) < 3:
        return
    made = list(done.values())
    tail = made[-min(_TAIL, max(4, 2 * len(made) // 3)) :]
    found = {"the same move in a row": min(identical_run(made), 5) / 5, "moves made again": again(made), "ends in a cycle": again(tail)}
    for name, share in found.items():
        if share >= _REPEATS[name] and len(made) > 3 - (name == "the same move in a row"):
            where = f"{len(made)} moves, {len(set(made))} different"
            yield Sign(name, str(made[-1][0])[:120], where, list(done)[first_again(made)], share)


def _answer(e: Episode, last: str) -> Iterator[Sign]:
    """What the episode ends with, against what it should end with."""
    handed_in = _HANDED_IN.search(last) if _WORDS["finishes"].search(last[-LAST:]) else None
    marked, answer = marks(last), final_answer(last) or (handed_in[1] if handed_in else "")
    if e.gold and (name := likeness(answer, e.taken or "", "" if marked else last, e.gold)):
        yield Sign(name, last[-120:], f"the right answer is {e.gold[:40]}")
    if last:
        changed = [i for i, t in enumerate(e.turns) if any(_WORDS["changes"].search(name) for name, _ in t.calls)]
        talks = any(t.role == "user" for t in e.turns)  # what was done for them is done; the words after it are a farewell
        yield Sign("an answer", last[-120:], "its last words", changed[-1] if changed and talks else -1)
        if marked or e.taken:
            yield Sign("a marked answer", last[-120:], "its last words")
        if match := (not marked and REFUSAL.search(last[-LAST:])) or _WORDS["gave_up"].search(answer if marked else last[-LAST:]):
            yield Sign("gives up", _around(last[-LAST:], match), "its last words")
    elif moves(e.turns) or any(t.text.strip() for t in e.turns if t.role == "assistant"):
        yield Sign("at work", " ".join(next((t.calls[-1] for t in reversed(e.turns) if t.calls), ()))[-120:], "still at work when it ended")
        own = sum(t.role == "assistant" for t in e.turns)
        if own % _ROUND == 0:
            yield Sign("as many turns as a limit", "", f"{own} turns", value=float(np.log10(own)))
    for i, turn in enumerate(e.turns[-4:], max(0, len(e.turns) - 4)):
        if turn.calls and _WORDS["gave_up"].search(_plain(turn.calls[-1][0])):
            yield Sign("hands over", " ".join(turn.calls[-1])[:120], f"turn {i + 1}", i)


def _form(e: Episode, last: str) -> Iterator[Sign]:
    """Marks and calls that are no proper ones."""
    marked, final = marks(last), e.turns[-1] if e.turns else Turn("tool", "")
    wanted = e.wanted.union(_ASKED.findall(e.asked[-4_000:].lower()))
    if e.taken == "" and last:
        yield Sign("nothing taken", last[-120:], "the parser took nothing")
    elif wanted and last and not (e.taken or marked) and final.role == "assistant":
        name = "marks of others missing" if wanted & e.wanted else "asked marks missing"
        yield Sign(name, last[-120:], f"no {', '.join(sorted(wanted))}")
    opened, closed = (final.text.rfind(mark) for mark in ("<tool_call>", "</tool_call>"))
    if final.role == "assistant" and (opened > closed or opened < 0 <= closed):
        yield Sign("broken call", final.text[max(opened, closed - 120) :][:120], "a call that is no valid one")


def _attack(e: Episode, _: str) -> Iterator[Sign]:
    """Work on the checker, above all where it was paid."""
    for i, turn in enumerate(e.turns):
        written = bounded("\n".join([turn.text, *(body.replace("\\n", "\n") for _, body in turn.calls)]))
        if turn.role == "assistant" and (match := VERIFIER_ATTACK.search(written)):
            yield Sign("work on the checker", _around(written, match), f"turn {i + 1}", i)
            break
    if e.paid:
        yield Sign("paid and wrong", "", "paid in full and judged wrong")


def _last_words(e: Episode) -> str:
    """What the model said last, be it a call that ends the episode or of a tool not called before; empty while it is still at work."""
    spoken = [turn for turn in e.turns if turn.role == "assistant" and (turn.text.strip() or turn.calls)]
    if not spoken:
        return ""
    waits, last = e.turns[-1].role == "tool", bounded(spoken[-1].text).strip()
    name, call = (spoken[-1].calls[-1][0], " ".join(spoken[-1].calls[-1]).strip()) if spoken[-1].calls else ("", "")
    if not (call or waits):
        return last
    if not name and len(call.split()) > 3 and call.rstrip("\"' )").endswith((".", "!", "?")):  # who acts in words may answer in them
        return call
    new = bool(call) and not waits and all(name != n for turn in spoken[:-1] for n, _ in turn.calls)
    return (call or last) if new or _WORDS["finishes"].search(call or last[-LAST:]) else ""


def _error_of(turn: Turn) -> str:
    """The words of an error: the last line of a traceback, else its beginning."""
    text = turn.text.strip()
    return _plain(text.splitlines()[-1] if text.startswith("Traceback") else text[:SHORT])


def _plain(text: str) -> str:
    """Names as words: ``SandboxOOMError`` and ``context_length_exceeded`` in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text[:2_000]).replace("_", " ")


def _around(text: str, match: re.Match[str]) -> str:
    return " ".join(text[max(0, match.start() - 60) : match.end() + 60].split())


def is_bad(told: Mapping[str, str]) -> bool:
    """Whether what the file says of an end is anything but that it came to one."""
    return any(_WORDS["bad"].search(k) or not _WORDS["clean"].fullmatch(v) for k, v in told.items())


def told_in(cells: Iterable[tuple[str, object]], *, deeper: bool = True) -> dict[str, str]:
    """The cells that say how an episode ended: short texts in columns named for it, also inside a mapping."""
    found: dict[str, str] = {}
    for name, value in cells:
        bare = name.removeprefix("other/")
        if isinstance(value, Mapping) and deeper:
            found |= {f"{bare}.{k}": v for k, v in told_in(((str(k), v) for k, v in list(value.items())[:50]), deeper=False).items()}
        elif value is True and _WORDS["flags"].search(bare):
            found[bare] = bare
        elif value is False and _WORDS["form"].search(bare):
            found[bare] = f"format: {bare} is false"
        elif isinstance(value, str) and 0 < len(value) <= SHORT and _WORDS["ends"].search(bare) and not _DATE.match(value):
            found[bare] = value
    return found
