"""Whether an answer is the right one: the same, nearly the same in other words, or behind other words."""

import re

import numpy as np

from rl_advisor.features.text.measures import fields

LAST = 300
"""Last characters in which an answer is looked for."""


def likeness(answer: str, taken: str, last: str, gold: str) -> str:
    """How the answer that a response ends with, or that was taken from it, compares with the right one; '' where it gives none."""
    if same_answer(answer, gold) or same_answer(taken, gold):
        return "the right answer"
    if ends_with(last, gold):
        return "right at the end"
    return ("nearly the right answer" if nearly_same(taken or answer, gold) else "another answer") if taken or answer else ""


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


def ends_with(text: str, gold: str) -> bool:
    """Whether the last number or the last words of a text are the right answer."""
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text[-LAST:])
    return same_answer(numbers[-1] if numbers else "", gold) or text.lower().rstrip(". \n").endswith(gold.lower())


def marks(text: str) -> frozenset[str]:
    """The marks whose body a response gives: tags that are closed, boxes."""
    return frozenset(name for name, body in fields(text) if body and name not in ("tool_call", "think", "tool_response"))
