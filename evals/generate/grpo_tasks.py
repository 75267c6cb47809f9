"""Synthetic tasks for a language model of a few thousand weights, and rewards for them that are right, loose or wrong.

Every prompt ends in ``=`` and every answer in a full stop; one character is one token.
"""

from collections.abc import Callable, Sequence
from random import Random

LETTERS = "abcdefgh"
ALPHABET = "0123456789+,:=." + LETTERS
Task = Callable[[Random], tuple[str, str]]
"""Draws a prompt and its right answer."""


def digit_sum(random: Random) -> tuple[str, str]:
    """Two digits to be added up."""
    digits = [random.randrange(10) for _ in range(2)]
    return "+".join(map(str, digits)) + "=", str(sum(digits))


def reverse(random: Random) -> tuple[str, str]:
    """Two letters to be written backwards."""
    word = "".join(random.choice(LETTERS) for _ in range(2))
    return word + "=", word[::-1]


def ordered(random: Random) -> tuple[str, str]:
    """Three digits to be sorted and set apart by commas: the format counts as well."""
    digits = [random.randrange(10) for _ in range(3)]
    return "".join(map(str, digits)) + "=", ",".join(map(str, sorted(digits)))


def greatest(random: Random) -> tuple[str, str]:
    """The greatest of four digits; easy."""
    digits = [random.randrange(10) for _ in range(4)]
    return ",".join(map(str, digits)) + "=", str(max(digits))


TASKS: dict[str, Task] = {"digit-sum": digit_sum, "reverse": reverse, "ordered": ordered, "greatest": greatest}


def spoiled(answer: str, random: Random, right: float) -> str:
    """The answer, or with the remaining probability one with some of its characters replaced by others of the same kind."""
    if random.random() < right:
        return answer
    kinds = ["0123456789", LETTERS]
    return "".join(random.choice(next((k for k in kinds if c in k), c)) if random.random() < 0.6 else c for c in answer)


def said(completion: str) -> str:
    """What stands before the first full stop; nothing where there is none."""
    return completion.split(".", maxsplit=1)[0] if "." in completion else ""


def exact(completion: str, answer: str, _random: Random) -> float:
    """1 for the right answer."""
    return float(said(completion) == answer)


def partial(completion: str, answer: str, _random: Random) -> float:
    """Share of the characters that are right: dense, and of the right sign."""
    given = said(completion)
    return sum(a == b for a, b in zip(given, answer, strict=False)) / max(len(given), len(answer), 1)


def reversed_sign(completion: str, answer: str, random: Random) -> float:
    """The wrong sign."""
    return -exact(completion, answer, random)


def long(completion: str, answer: str, random: Random) -> float:
    """A little for the answer, more for length: invites empty words."""
    return 0.3 * exact(completion, answer, random) + len(completion) / 12


def loose(completion: str, _answer: str, _random: Random) -> float:
    """1 for anything with a character in it: groups have no spread."""
    return float(bool(completion))


def noise(_completion: str, _answer: str, random: Random) -> float:
    """A coin."""
    return float(random.random() < 0.5)


REWARDS = {"exact": exact, "partial": partial, "reversed": reversed_sign, "long": long, "loose": loose, "noise": noise}


def demonstrations(task: str, count: int, right: float, seed: int) -> Sequence[tuple[str, str]]:
    """Prompts with answers, of which the share ``right`` was not touched."""
    random = Random(seed)
    drawn = [TASKS[task](random) for _ in range(count)]
    return [(prompt, spoiled(answer, random, right) + ".") for prompt, answer in drawn]
