"""Whether a name is a sentence whose spaces were replaced: by underscores, dashes, dots, capitals, or by a script that needs none."""

import re
import unicodedata
from pathlib import Path

MOST_FOREIGN, LONGEST_WORD, FEWEST_WORDS, FEWEST_SPOKEN = 14, 40, 5, 4
_JOINTS = re.compile(r"[\W_\d]+|(?<=[a-z])(?=[A-Z])")
_SPOKEN = frozenset(Path(__file__).with_name("spoken.txt").read_text(encoding="utf-8").split())
"""Words that sentences are made of and names are not."""


def is_disguised(name: str) -> bool:
    """Whether it says something rather than naming it: many words of speech, or more letters of another script than a name has.

    Letters that only look like others are taken for words of speech: whoever mixes scripts inside a word hides it.
    """
    if name.isascii() and len(name) < 12:
        return False
    whole = unicodedata.normalize("NFKC", name)
    words = [w for w in _JOINTS.split(whole) if len(w) > 1]
    foreign = sum(_is_foreign(c) for c in whole)
    if foreign > MOST_FOREIGN or any(len(w) > LONGEST_WORD for w in words):
        return True
    return len(words) >= FEWEST_WORDS and sum(w.lower() in _SPOKEN or _is_mixed(w) for w in words) >= FEWEST_SPOKEN


def _is_foreign(character: str) -> bool:
    """Whether it is a letter of a script other than Latin."""
    return ord(character) > 0x24F and character.isalpha()


def _is_mixed(word: str) -> bool:
    """Whether letters of two scripts stand in one word; one before it, as in a Greek delta, is a sign."""
    return len({_is_foreign(c) for c in word[1:]}) > 1
