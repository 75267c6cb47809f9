"""Lines on which a regular expression works longest, made from its own parse tree, and how its time grows with them."""

import ast
import re
import signal
import string
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from re import _constants as kind
from re import _parser
from typing import Any, NamedTuple

ALPHABET = "1a _.:-/|=,'\"{[(\\e+#%;~\t\x00\u00e9"
_POOL = ALPHABET + string.ascii_letters + string.digits + string.punctuation + " \t\n\x1b"
_REPEATS = (kind.MAX_REPEAT, kind.MIN_REPEAT, kind.POSSESSIVE_REPEAT)
METHODS = {"match": "match", "fullmatch": "fullmatch", "search": "finditer"} | dict.fromkeys(
    ("finditer", "findall", "sub", "split"), "finditer"
)
DECADES = (10, 100, 1_000, 10_000)
_ASKS = re.compile(r"\bre\.")
_groups: dict[int, str] = {}
"""What the groups of the pattern at hand were given, for what refers back to them."""
UNBOUNDED, TRIED, LONGEST_S, LOOKS = 50, 6, 60.0, 2
"""Repetitions from which a bound is no bound; the worst lines that are followed; processor time of all; times that a line is convicted."""


class Used(NamedTuple):
    """A regular expression and how the package asks it."""

    where: str
    pattern: re.Pattern[Any]
    method: str
    longest: int
    """Characters that it is ever asked about, where its module says so with ``SEEN``."""


class Line(NamedTuple):
    """What stands before, what is repeated, and what stands behind."""

    before: str
    again: str
    behind: str

    def of(self, size: int) -> str:
        """The line at that length."""
        return self.before + self.again * (size // len(self.again) + 1) + self.behind


def used_in(package: Path, name: str) -> Iterator[Used]:
    """Every regular expression of a package with every method by which its source asks it; where that cannot be seen, as a match."""
    for path in sorted(package.rglob("*.py")) or [package]:
        inner = path.relative_to(package).with_suffix("").parts if path != package else ()
        module = ".".join((name, *inner)).removesuffix(".__init__")
        if not _ASKS.search(source := path.read_text()):
            continue
        tree = ast.parse(source)
        asked: dict[str, set[str]] = {}
        for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
            if call.func.attr not in METHODS or not isinstance(call.func.value, ast.Name):
                continue
            if call.func.value.id != "re":
                asked.setdefault(call.func.value.id, set()).add(METHODS[call.func.attr])
            elif call.args and isinstance(call.args[0], ast.Constant):
                yield Used(module, re.compile(call.args[0].value), METHODS[call.func.attr], _seen(module))
        if "re.compile" in source:
            for variable, value in vars(import_module(module)).items():
                for pattern in _patterns(value):
                    for method in sorted(asked.get(variable) or {"match", "fullmatch"}):
                        yield Used(f"{module}.{variable}", pattern, method, _seen(module))


def _seen(module: str) -> int:
    return int(getattr(import_module(module), "SEEN", DECADES[-1]))


def _patterns(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, list | tuple | set | frozenset | dict) and depth < 3:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _patterns(part, depth + 1)


def growth(used: Used) -> str:
    """The line on which the time of this pattern grows faster than the line, and the times; empty when there is none."""

    def ring(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        return _growth(used)
    except TimeoutError:
        return f"{used.where}.{used.method} {used.pattern.pattern!r:.120} comes to no end"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _growth(used: Used) -> str:
    ask: Callable[[Any], Any] = getattr(used.pattern, used.method)
    as_bytes = isinstance(used.pattern.pattern, bytes)

    def seconds(line: Line, size: int) -> float:
        text = line.of(size)
        given = text.encode() if as_bytes else text
        best = 9.0
        for _ in range(3):
            begun = time.thread_time()
            found = ask(given)
            _ = found and used.method == "finditer" and sum(1 for _ in found)
            best = min(best, time.thread_time() - begun)
            if best > 0.05:
                break
        return best

    def followed(line: Line) -> list[float]:
        times: list[float] = []
        for size in DECADES if used.longest >= DECADES[-1] else (*DECADES[:2], used.longest):
            if not _too_fast(times):
                times.append(seconds(line, size))
        return times

    costly = sorted(lines(used.pattern), key=lambda line: -seconds(line, DECADES[1]))
    for line in costly[:TRIED]:
        if all(_too_fast(times := followed(line)) for _ in range(LOOKS)):  # a machine that was busy elsewhere is no fault of a pattern
            return f"{used.where}.{used.method} {used.pattern.pattern!r:.120} on {tuple(line)!r:.60}: {[f'{t:.6f}' for t in times]}"
    return ""


def _too_fast(times: list[float]) -> bool:
    """Whether ten times the line took far more than ten times as long; what takes next to nothing is not measured well."""
    if not times:
        return False
    return times[-1] > 0.5 or (len(times) == len(DECADES) and times[-1] > 0.002 and times[-1] > 60 * times[-2])


def lines(pattern: re.Pattern[Any]) -> Iterator[Line]:
    """Lines that reach a repetition of the pattern, give it much to repeat, and then fail."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin1")
    seen = set()
    for before, body in _repeated(
        _parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    ):
        for pump in _pumps(body):
            for line in (
                *(Line(before, pump, behind) for behind in ("\x00", "x", "")),
                *(Line("", again, "\x00") for again in (pump, before + pump, before + pump + "\n")),
            ):
                if line.again and line not in seen:
                    seen.add(line)
                    yield line


def _repeated(tree: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """What stands before each repetition without a bound, and what is repeated."""
    for what, about in tree:
        if what in _REPEATS:
            if about[1] is kind.MAXREPEAT or about[1] > UNBOUNDED:
                yield before, about[2]
            yield from _repeated(about[2], before)
        for inner in _parts(what, about):
            yield from _repeated(inner, before)
        before += _sample_of(what, about)


def _parts(what: Any, about: Any) -> list[Any]:
    if what is kind.SUBPATTERN:
        return [about[3]]
    if what is kind.BRANCH:
        return list(about[1])
    if what in (kind.ASSERT, kind.ASSERT_NOT):
        return [about[1]]
    return [about] if what is kind.ATOMIC_GROUP else []


def _pumps(body: Any) -> list[str]:
    """Texts that the repeated part matches: one sample, every character of a set, every branch."""
    found = [_sample(body)]
    for what, about in body:
        inner = about[3] if what is kind.SUBPATTERN else [(what, about)]
        for part, said in inner:
            if part is kind.BRANCH:
                found += [_sample(b) for b in said[1]]
            elif len(inner) == 1 and len(body) == 1 and part in (kind.IN, kind.ANY, kind.NOT_LITERAL, kind.CATEGORY):
                found += [c for c in _members(said if part is kind.IN else [(part, said)]) if c in ALPHABET]
    return [pump for pump in dict.fromkeys(found) if pump]


def _sample(tree: Any) -> str:
    return "".join(_sample_of(what, about) for what, about in tree)


def _sample_of(what: Any, about: Any) -> str:
    if what is kind.LITERAL:
        return chr(about)
    if what in (kind.IN, kind.NOT_LITERAL, kind.ANY, kind.CATEGORY):
        return (_members(about if what is kind.IN else [(what, about)]) or [""])[0]
    if what in _REPEATS:
        return _sample(about[2]) * about[0]
    if what in (kind.ASSERT, kind.ASSERT_NOT):
        return ""
    if what is kind.GROUPREF:
        return _groups.get(about, "")
    if what is kind.SUBPATTERN:
        _groups[about[0]] = _sample(about[3])
    return next((_sample(part) for part in _parts(what, about)), "")


def _members(items: Any) -> list[str]:
    """Characters of a set, those of the alphabet first."""
    named = [chr(a) if w is kind.LITERAL else chr(a[0]) for w, a in items if w in (kind.LITERAL, kind.RANGE)]
    refused = items[0][0] is kind.NEGATE
    return [c for c in dict.fromkeys((*_POOL, *named)) if any(_holds(w, a, c) for w, a in items) != refused]


def _holds(what: Any, about: Any, character: str) -> bool:
    if what is kind.RANGE:
        return bool(about[0] <= ord(character) <= about[1])
    if what is kind.CATEGORY:
        name = str(about)
        plain = (
            character.isdigit() if "DIGIT" in name else character.isspace() if "SPACE" in name else character.isalnum() or character == "_"
        )
        return plain != ("NOT" in name)
    if what is kind.ANY:
        return character != "\n"
    return what is not kind.NEGATE and (ord(character) == about) != (what is kind.NOT_LITERAL)
