"""How numbers are printed: in text of any script, with thousands, exponents, units; dates and clocks are told from them."""

import re

_POWER, _PARTS_OF = r"(?:[eE][-+]?\d+)?", r"(?:\.\d+|\.(?=[\]),]))?"
_THOUSANDS = r"(?:(?:,\d{3})+|(?:_\d{3})+)(?:\.\d+)?(?!\d|[,_]\d)"
NUMBER = re.compile(
    r"([-+.\dnNiI](?:(?<![\w.@][-+.\dnNiI])(?:"  # the first character first, so that the rest is tried at few places
    r"(?<=\d)(?:\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)?|\d{0,3}(?::\d\d)+(?:[.,]\d+)?"
    rf"|(?<!0)\d{{0,2}}{_THOUSANDS}{_POWER}|\d*{_PARTS_OF}{_POWER})"
    rf"|(?<=[-+])(?:\d{{1,3}}{_THOUSANDS}{_POWER}|\d+{_PARTS_OF}{_POWER}|\.\d+{_POWER}|(?:nan|NaN|NAN|inf|Inf|INF|Infinity)(?![\w-]))"
    rf"|(?<=\.)\d+{_POWER}|(?<=[nN])(?:an|aN|AN)(?![\w-])|(?<=[iI])(?:nf|NF|nfinity)(?![\w-]))"
    r"|(?<=[eptnrhEPTNRH]\d)(?i:(?<=ep.)|(?<=it.)|(?<=gen.)|(?<=\be.)|(?<=step.)|(?<=iter.)|(?<=epoch.)|(?<=episode.))\d*(?![\w.])))"
)
"""A number, or a date or clock, as one group; of a number that touches a word only one that counts (``ep12: ...``)."""
UNIT = re.compile(r"(?:%|°C?|[^\W\d_]{1,5}(?:/[^\W\d_]{1,5})?)?(?![^\W_])")
"""What may stand right behind a number, as part of it."""
_TIMES = re.compile(r"([kKM])(?![^\W_])")
_THOUSANDFOLD = {"k": 1e3, "K": 1e3, "M": 1e6}
_MARKS = str.maketrans("\uff1a\uff0c\uff1b\uff08\uff09\uff1d\uff05\u3001\u3010\u3011\u2212", ":,;()=%,[]-")
"""Marks of wide scripts, and the minus of typesetters."""
_SCRIPT = "[\u2e80-\u9fff\uac00-\ud7a3]"
"""Letters that are written without blanks between words and numbers."""
_ORDINAL = re.compile(rf"第\s*([\d/ ]{{0,20}}\d)\s*({_SCRIPT}{{1,3}})")
_ODD = re.compile("[\u2212\xa0\u202f\u2e80-\uffef]")
_GLUED = re.compile(rf"(?<={_SCRIPT})(?=[-+]?\d)|(?<=\d)(?={_SCRIPT})|(?<=\d)[\xa0\u202f]()(?=\d\d\d)")
"""Where a number touches a word of such a script; and a blank between thousands, which goes."""
_COMMA = re.compile(r"(?<![\d,.\[(])(\d{1,3}(?:\.\d{3})+|\d{1,15})(?:,(\d{1,15}))?(?!\d|[.,]\d)")
_POINT = re.compile(r"\d\.(?!\d{3}(?!\d))\d|\d{4}\.\d")
FEW = 8
"""Decimal commas from which a text writes them."""


def spelled(text: str) -> str:
    """The text with its marks and numbers as they are written in English."""
    if not _ODD.search(text):
        return text
    return _GLUED.sub(lambda at: " " if at[1] is None else "", _ORDINAL.sub(r"\2 \1 ", text.translate(_MARKS)))


def times_of(after: str) -> float:
    """What a letter alone behind a number makes of it."""
    return _THOUSANDFOLD[letter[1]] if (letter := _TIMES.match(after)) else 1.0


def writes_commas(text: str) -> bool:
    """Whether numbers have decimal commas: there are some that part no thousands, and no number has a decimal point."""
    found = [match[2] for match in _COMMA.finditer(text) if match[2]] if _POINT.search(text) is None else []
    return any(len(part) != 3 for part in found) and len(found) >= FEW


def with_points(text: str) -> str:
    """The text with a point where its numbers have a decimal comma, and nothing between their thousands."""
    return _COMMA.sub(lambda n: n[1].replace(".", "") + (f".{n[2]}" if n[2] else ""), text)
