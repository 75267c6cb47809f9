"""How numbers and names are said, in one place: percent where people say percent, two digits of a score, whole steps, no underscores.

What a sentence says about a quantity is spelled here and nowhere else, so that one quantity has one spelling at every door.
"""

import math
import re
from collections.abc import Iterable, Sequence

from rl_advisor.discovery import table
from rl_advisor.output import Answer

WORDS: Answer = table(__file__, "words.toml")
"""The words for verdicts, calls, stages, and for patterns that people call something else than their names."""
_TINY, _LARGE = 1e-3, 1e6
WHOLE = frozenset({"tokens", "steps", "episodes", "updates", "env steps"})
"""Units of which people name whole numbers."""


def plain(name: str) -> str:
    """The name of a pattern, a verdict or a stage in plain words."""
    return str(WORDS["plain"].get(name, name.replace("_", " ")))


def value(x: float, unit: str = "", digits: int = 2) -> str:
    """A number with its unit's habits: a share as percent, counts and steps whole, everything else to ``digits`` significant digits."""
    if unit == "share" and -1 <= x <= 1:
        return percent(x, digits - 2)
    if unit in WHOLE and abs(x) >= 1:
        return f"{x:.0f}"
    if x == 0:
        return "0"
    if abs(x) < _TINY or abs(x) >= _LARGE or (unit == "rate" and abs(x) < 0.1 and len(_trimmed(f"{x:.{digits}g}")) > 3 + digits):
        mantissa, power = f"{x:.{digits - 1}e}".split("e")
        return f"{_trimmed(mantissa)}e{int(power)}"
    if abs(float(f"{x:.{digits}g}")) >= 100:
        return _trimmed(f"{x:.{max(0, digits - 3)}f}")
    return _trimmed(f"{x:#.{digits}g}".rstrip("."))


def setting(x: object) -> str:
    """A setting's value as every door shows it."""
    if isinstance(x, int | float) and not isinstance(x, bool):
        return f"{x:.0f}" if float(x).is_integer() and abs(x) < 1e9 else value(x, "rate", 3)
    return str(x)[:40]


def raw(x: float, unit: str = "") -> str:
    """A point of a row, to three digits and without the zero before its point: half the tokens."""
    small = 1e-6 < abs(x) < _TINY
    told = f"{x:.{2 - math.floor(math.log10(abs(x)))}f}".rstrip("0") if small else value(x, "" if unit == "share" else unit, 3)
    return told.replace("0.", ".", 1) if told.startswith(("0.", "-0.")) else told


def tick(step: float) -> str:
    """A round step on an axis: 20k, 2M."""
    size, sign = next((s for s in ((1e9, "B"), (1e6, "M"), (1e3, "k")) if abs(step) >= s[0]), (1.0, ""))
    return f"{step / size:g}{sign}"


def _trimmed(text: str) -> str:
    """A decimal without the zeros that say nothing; ``-0`` is ``0``."""
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return "0" if text in ("-0", "") else text


def percent(share: float, decimals: int = 0) -> str:
    """A share as percent; neither none nor all of it where it is only nearly so."""
    if 0 < abs(share) < 0.005 and decimals <= 0:
        return "under 1 %"
    if 0.995 <= share < 1 and decimals <= 0:
        return "over 99 %"
    return f"{_trimmed(f'{100 * share:.{max(0, decimals)}f}')} %"


def chance(p: float, confidence: str = "high") -> str:
    """A probability as percent; in steps of five where little is known, never quite 0 or 100."""
    rough = 5 if confidence == "low" else 1
    said = min(max(rough * round(100 * p / rough), rough), 100 - rough)
    return f"{said} %"


def apart(values: Iterable[float], unit: str = "") -> int:
    """How many digits it takes, two to four, to tell different values of one quantity apart."""
    known = set(values)
    return next((n for n in (2, 3) if len({value(x, unit, n) for x in known}) == len(known)), 4)


def pair(first: float, last: float, unit: str = "") -> tuple[str, str]:
    """Two values of one quantity, with as many digits as it takes to tell them apart."""
    digits = apart((first, last), unit)
    return value(first, unit, digits), value(last, unit, digits)


def from_to(first: float, last: float, unit: str = "") -> str:
    """From where to where a quantity went, in logged values."""
    a, b = pair(first, last, unit)
    return f"from {a} to {b}"


def about(first: float, last: float, unit: str = "") -> str:
    """From where to where the level of a quantity went: medians or means of several points, which no single row of the log shows."""
    a, b = pair(first, last, unit)
    return f"from {a} to about {b}" if first == 0 != last else f"from about {a} to {b}"


def roughly(level: float, unit: str = "") -> str:
    """A level; nothing and all of a share are said as they are."""
    said = value(level, unit)
    exact = level == 0 or (unit == "share" and level == 1)
    return said if exact or (not said[:1].isdigit() and said[:1] != "-") else f"about {said}"


def counted(n: int, noun: str) -> str:
    """How many there are, the noun in its number."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def span(low: float, high: float) -> str:
    """An interval of steps in words."""
    return f"step {low:.0f}" if round(low) == round(high) else f"steps {low:.0f} to {high:.0f}"


def sentence(text: str) -> str:
    """The text with a capital at its start and a stop at its end; a name keeps its spelling."""
    text = text.strip()
    if not text:
        return ""
    head = text if re.match(r"\S*[/_`A-Z0-9]", text.split()[0]) else text[0].upper() + text[1:]
    return head if head[-1] in ".?!" else f"{head}."


def clause(text: str) -> str:
    """The first sentence of a statement, without its stop: what fits on a line."""
    return re.split(r"(?<=[a-z0-9%)])\. (?=[A-Z`])", text.strip(), maxsplit=1)[0].rstrip(".")


def told_once(clauses: Sequence[tuple[str, str | None]]) -> str:
    """Clauses and the metric that each is about, as one sentence that names a metric once and calls it "it" while it stays the same."""
    said, last = [], None
    whole = [c for i, c in enumerate(clauses) if not any(other.startswith(c[0].rstrip(".")) for other, _ in clauses[:i])]
    for text, name in whole:
        again = name is not None and name == last and text.startswith(f"{name} ")
        said.append(f"it{text[len(name or '') :]}" if again else text)
        last = name if name is not None and text.startswith(f"{name} ") else None
    return "; ".join(text.rstrip(".") for text in said)


def listed(parts: Sequence[str], most: int = 0, last: str = "and") -> str:
    """Parts as people list them; beyond ``most`` they are counted."""
    if most and len(parts) > most:
        return f"{', '.join(parts[:most])} and {len(parts) - most} more"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def seconds_of(seconds: float | None) -> str:
    """A time in the unit that people read it in."""
    if seconds is None:
        return "unknown"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{1000 * seconds:.0f} ms" if seconds < 0.1 else f"{seconds:.3g} s"
