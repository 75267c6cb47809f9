"""Signs of why one episode failed, each for one reason, with its weight and the words it rests on; weighed, never the first that fits."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rl_advisor.features.text.behaviour import is_control, is_error
from rl_advisor.features.text.measures import bounded, fields, final_answer
from rl_advisor.features.text.phrases import REFUSAL, VERIFIER_ATTACK
from rl_advisor.features.text.repetition import again, identical_run, tail_loop
from rl_advisor.features.text.turns import Turn

SHORT, LAST = 600, 300
"""Characters up to which a tool's answer can be an error and nothing else, and of the last words that are looked at."""
UNKNOWN = "not told"


@cache
def _table() -> tuple[list[dict[str, Any]], dict[str, re.Pattern[str]]]:
    """The reasons with the ``pattern`` of words that speak for each, and other words by name."""
    held = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    patterns = {name: re.compile("|".join(listed), re.IGNORECASE) for name, listed in held["words"].items()}
    return [{**s, "pattern": re.compile("|".join(s["patterns"]), re.IGNORECASE)} for s in held["sign"]], patterns


def _words(name: str) -> re.Pattern[str]:
    return _table()[1][name]


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


class Sign(NamedTuple):
    """One sign: the reason it speaks for, how strongly (in nats), and the words that it was seen in."""

    reason: str
    weight: float
    quote: str
    where: str


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
    found = [
        Sign(words["reason"], words["told"], _around(said, match), column)
        for column, said in ((column, _plain(text)) for column, text in e.told.items())
        for words in _table()[0]
        if (match := words["pattern"].search(said))
    ]
    yield from found
    if e.cut and not any(sign.reason == "truncation" for sign in found):
        yield Sign("truncation", 3.5, e.turns[-1].text[-80:] if e.turns else "", "cut at the limit")


def _tools(e: Episode) -> Iterator[Sign]:
    """Errors that tools answered: the last answer counts in full, one that was overcome hardly."""
    answers = [i for i, turn in enumerate(e.turns) if turn.role == "tool"]
    wrong = {i for i in answers if is_error(e.turns[i])}
    for words in (words for words in _table()[0] if "answered" in words):
        reason, strong = words["reason"], words["answered"]
        hits = {i: m for i in wrong if (m := words["pattern"].search(_error_of(e.turns[i])))}
        if not hits:
            continue
        last, share = max(hits), len(hits) / len(answers)
        weight = (strong if last == answers[-1] else 0.3) + (1.0 if share >= 0.5 and len(hits) > 1 else 0.0)
        own = reason == "infrastructure" and _may_be_its_own(e.turns, last)
        blamed, weight = ("tool misuse", weight / 5) if own else (reason, weight)
        yield Sign(blamed, weight, _around(_error_of(e.turns[last]), hits[last]), f"turn {last + 1}, tool")


def _may_be_its_own(turns: Sequence[Turn], at: int) -> bool:
    """Whether a time-out may be that of the code the model wrote: a tool that runs code, and nothing but the time that ran out."""
    called = next((turn.calls[-1][0] or turn.calls[-1][1] for turn in reversed(turns[:at]) if turn.calls), "")
    error = _error_of(turns[at])
    return bool(_words("runs_code").search(called[:60]) and _words("time_out").search(error) and not _words("machine").search(error))


def _repetition(e: Episode) -> Iterator[Sign]:
    """Loops in the last words, and the same calls over and over."""
    said = _said(e)
    if said and (loop := tail_loop(said[-1])) > 0.3:
        yield Sign("looped", 3.0 + 2 * loop, said[-1][-120:], "its last words")
    calls = [call for turn in e.turns for call in turn.calls] if not is_control(e.turns) else []
    run, anew = identical_run(calls), again(calls)
    weight = max(1.0 * run - 0.5 if run >= 3 else 0.0, 6 * anew if len(calls) >= 6 and anew >= 0.5 else 0.0)
    if weight:
        yield Sign("looped", min(weight, 4.5), " ".join(calls[-1])[:120], f"{len(calls)} calls, {len(set(calls))} different")
    if 1 < run < 3 and calls[-1] == calls[-2]:
        yield Sign("tool misuse", 0.5, " ".join(calls[-1])[:120], "the same call again")


def _answer(e: Episode) -> Iterator[Sign]:
    """What the episode ends with, against what it should end with."""
    said = _said(e)
    last = said[-1] if said else ""
    marked = marks(last)
    answer = final_answer(last)
    wanted = {mark for mark in e.wanted if mark not in marked} | {m for m in _asked_marks(e.asked) if m not in marked}
    if e.gold and same_answer(answer, e.gold):
        yield Sign("grader", 5.0, last[-120:], f"its answer is the right one ({e.gold[:40]})")
    elif e.gold and not marked and _ends_with(last, e.gold):
        yield Sign("grader", 4.0, last[-120:], f"the right answer ({e.gold[:40]}) outside the marks")
    if wanted and last and e.turns[-1].role == "assistant":
        yield Sign("format", 2.5 + 0.5 * (len(wanted & e.wanted) > 0), last[-120:], f"no {', '.join(sorted(wanted))}")
    if e.turns and (broken := _broken_call(e.turns[-1])):
        yield Sign("format", 2.5, broken, "a call that is no valid one")
    if match := REFUSAL.search(last[-LAST:]) or _words("gave_up").search(last[-LAST:]):
        yield Sign("gave up", 0.5 if marked else 3.6, _around(last[-LAST:], match), "its last words")
    elif not last and any(words for words in said):
        yield Sign("gave up", 1.2, "", "it says nothing")
    if last:
        other = bool(e.gold and answer) and not same_answer(answer, e.gold)
        yield Sign("wrong answer", 1.0 + 0.7 * bool(marked) + 0.8 * other, last[-120:], "its last words")
    else:
        yield Sign(UNKNOWN, 0.5, "", "no words of the model")


def _attack(e: Episode) -> Iterator[Sign]:
    """Work on the checker, above all where it was paid."""
    for i, turn in enumerate(e.turns):
        written = (
            "\n".join([turn.text, *(arguments.replace("\\n", "\n") for _, arguments in turn.calls)]) if turn.role == "assistant" else ""
        )
        if match := VERIFIER_ATTACK.search(bounded(written)):
            yield Sign("hacked", 3.5, _around(written, match), f"turn {i + 1}")
            break
    if e.paid:
        yield Sign("hacked", 2.5, "", "paid in full and judged wrong")


_LOOKED = (_told, _tools, _repetition, _answer, _attack)


def same_answer(answer: str, gold: str) -> bool:
    """Whether two short answers are the same: as numbers, else as words."""
    if not answer or not gold:
        return False
    a, b = (re.sub(r"[\s,$%]", "", text.lower()).strip(".") for text in (answer, gold))
    try:
        return bool(np.isclose(float(a), float(b), rtol=1e-6))
    except (ValueError, OverflowError):
        return a == b


def _ends_with(text: str, gold: str) -> bool:
    """Whether the last number or the last words of a text are the right answer."""
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text[-LAST:])
    return (
        same_answer(numbers[-1], gold)
        if numbers and re.fullmatch(r"-?[\d,.]+", gold)
        else text.lower().rstrip(". \n").endswith(gold.lower())
    )


def marks(text: str) -> frozenset[str]:
    """The marks whose body a response gives: tags that are closed, boxes."""
    return frozenset(name for name, body in fields(text) if body and name not in ("tool_call", "think", "tool_response"))


def _asked_marks(prompt: str) -> set[str]:
    return {m.lower() for m in re.findall(r"<(answer|final_answer|solution|final)>", prompt[-4_000:], re.IGNORECASE)} | (
        {"boxed"} if "\\boxed" in prompt[-4_000:] else set()
    )


def _broken_call(turn: Turn) -> str:
    """The last turn's call where it was opened and never closed."""
    at = turn.text.rfind("<tool_call>")
    return turn.text[at : at + 120] if turn.role == "assistant" and at >= 0 and "</tool_call>" not in turn.text[at:] else ""


def _said(e: Episode) -> list[str]:
    """What the model said turn by turn; where its last turn is a call and nothing else, its last word is empty."""
    said = [bounded(turn.text).strip() for turn in e.turns if turn.role == "assistant" and (turn.text.strip() or turn.calls)]
    ends_in_tool = bool(e.turns) and e.turns[-1].role == "tool"
    return [*said, ""] if ends_in_tool else said


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
