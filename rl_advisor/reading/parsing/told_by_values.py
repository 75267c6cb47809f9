"""What names that say nothing stand for, by the values under them: who speaks, what was called with what, what was said and came back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise
from typing import Any

from rl_advisor.features.text.speakers import decides, part_of, role_of
from rl_advisor.reading.parsing.nested_values import mappings

_DEPTH, _MOST, _LONG, _SHORT, _WHO, _OFTEN = 12, 40, 24, 200, 6, 0.6
"""How deep is looked, mappings of a list and names of one, characters of a word and of an answer, speakers of a file, and what is most."""
_MINE = re.compile(r"\b(?:I|I'll|I'm|[Ll]et me|[Ll]et's|[Ww]e|[Mm]y|[Nn]eed to|should)\b")
_CALL = re.compile(r"[A-Za-z_][\w.-]{0,60}(?:[(\[{].*[)\]}]\W{0,2}|(?: [\w./#-]{1,40}){0,5})", re.DOTALL)
"""A call in brackets, or a command of a few words."""
_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,60}")
_RIGHT = re.compile(r"(?i)expect|gold|target|truth|reference|correct|ideal|wanted")
Field = list[tuple[int, Any]]
"""The values of a name in records, each with the number of the record."""


def names_told(rows: Iterable[Any]) -> dict[str, str]:
    """Names that say nothing -> what they stand for; nothing where no records are found in which somebody speaks and somebody answers."""
    found: dict[str, str] = {}
    for records in _records(list(rows)):
        fields: dict[str, Field] = defaultdict(list)
        for i, record in enumerate(records):
            for name, value in islice(record.items(), _MOST):
                if name in fields or len(fields) < _MOST:
                    fields[name].append((i, value))
        told = _told(fields, len(records))
        if {"role", "observation", "tool_output"} & {*told.values()} or any(part_of(k) in ("said", "done", "seen", "who") for k in fields):
            found = {**told, **found}
    return found


def answers_told(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The names of an answer and of the right one, told by how often they say the same and how seldom any two others do."""
    names = [k for k, v in islice(rows[0].items(), _MOST) if isinstance(v, str) and 0 < len(v) < _SHORT] if rows else []
    pairs = [(a, b) for a, b in combinations(names, 2) if _RIGHT.search(a) or _RIGHT.search(b)]
    for a, b in pairs if len(rows) > _WHO else ():
        both = [(str(row.get(a)).strip(), str(row.get(b)).strip()) for row in rows]
        if 3 * sum(x == y for x, y in both) > len(rows) > sum(x == y for x, y in both) and 2 * len({*both}) > len(rows):
            right = b if _RIGHT.search(b) else a
            return {right: "expected", a if right == b else b: "response"}
    return {}


def under(value: Any, names: Mapping[str, str], depth: int = 0) -> Any:
    """A value with its names put in the place of those that say nothing."""
    if isinstance(value, Mapping) and depth < _DEPTH:
        return {names.get(str(k), str(k)): under(v, names, depth + 1) for k, v in value.items()}
    return [under(v, names, depth + 1) for v in value] if isinstance(value, list) and depth < _DEPTH else value


def _records(rows: list[Any]) -> Iterator[list[dict[str, Any]]]:
    """Lists of mappings alike, wherever they lie, those of one path together; the rows themselves last."""
    by_path: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    waiting: list[tuple[tuple[str, ...], Any]] = [((), row) for row in rows[:_MOST]]
    for path, value in waiting:
        if len(path) > _DEPTH or len(waiting) > 50 * _MOST:
            break
        if isinstance(value, Mapping):
            waiting += [((*path, str(k)), v) for k, v in value.items() if isinstance(v, (Mapping, list))]
        elif isinstance(value, list):
            every = mappings(value)[:_MOST]
            if len(every) > 1 and len(by_path[path]) < 10 * _MOST:
                by_path[path] += every
            waiting += [(path, one) for one in value[:_MOST] if isinstance(one, (Mapping, list))]
    yield from by_path.values()
    yield mappings(rows)


def _told(fields: Mapping[str, Field], records: int) -> dict[str, str]:
    """What each of the names of records stands for, as far as it says nothing itself."""
    mute = {name: field for name, field in fields.items() if not part_of(name)}
    texts = {name: [v for _, v in field if isinstance(v, str) and v] for name, field in mute.items()}
    given = next((n for n, field in mute.items() if sum(map(_is_given, (v for _, v in field))) > _OFTEN * records), "")
    called = next((n for n in mute if n != given and len(texts[n]) > _OFTEN * records and all(map(_NAME.fullmatch, texts[n]))), "")
    chosen = {n: "action" for n, field in mute.items() if _chosen(field, fields)}
    who = next((n for n, field in mute.items() if n not in chosen and _speaks(field, records, sure=not given)), "")
    if called and given and not who:
        return {called: "tool", given: "arguments"} | {n: "tool_output" for n in texts if n not in (called, given) and _says(texts[n])}
    told = {who: "role"} if who else {}
    told |= {n: "tool_calls" if who else "action" for n, field in mute.items() if n != who and _acts(field)}
    told |= chosen
    told |= {n: "observation" for n, field in mute.items() if n not in told and _seen_next(field, fields, n)}
    long = sorted(
        (n for n in mute if n not in told and _says(texts[n]) and 2 * len(texts[n]) > records), key=lambda n: -sum(map(len, texts[n]))
    )
    if who:
        inside = [n for n, field in mute.items() if n not in told and any(isinstance(v, (list, Mapping)) for _, v in field)]
        return told | dict.fromkeys((long or inside)[:1], "content")
    order, acted = list(fields), [n for n in fields if told.get(n) == "action" or part_of(n) in ("done", "args", "name")]
    for name in long:
        mine = sum(_MINE.search(t) is not None for t in texts[name]) > _OFTEN * len(texts[name])
        told[name] = "thought" if mine else "observation" if acted and order.index(name) > order.index(acted[-1]) else "state"
    return told


def _chosen(field: Field, fields: Mapping[str, Field]) -> bool:
    """Whether nearly each value is one of those that a list beside it holds."""
    held = [dict(other) for other in fields.values() if any(isinstance(v, list) and len(v) > 1 for _, v in other)]
    words = [(i, v) for i, v in field if isinstance(v, str) and v]
    most = max((sum(isinstance(of.get(i), list) and v in of[i] for i, v in words) for of in held), default=0)
    return len(words) > 1 and most > _OFTEN * len(field)


def _seen_next(field: Field, fields: Mapping[str, Field], name: str) -> bool:
    """Whether what stands there stands in the next record under another name: what came of a step is where the next one starts."""
    values = [(i, v) for i, v in field if not isinstance(v, (bool, int, float)) and v]
    befores = [dict(other) for n, other in fields.items() if n != name]
    most = max((sum(of.get(i + 1) == v and of.get(i) != v for i, v in values) for of in befores), default=0)
    return len(values) > 2 and 2 * most > len(values)


def _says(texts: list[str]) -> bool:
    """Whether texts are words, most of them."""
    return bool(texts) and sum(t.count(" ") > 2 for t in texts) > _OFTEN * len(texts)


def _is_given(value: Any) -> bool:
    """Whether arguments of a call may stand there."""
    return isinstance(value, Mapping) or (isinstance(value, str) and value[:1] == "{")


def _speaks(field: Field, records: int, *, sure: bool) -> bool:
    """Whether one of few words stands in nearly every record, another one in the next; beside arguments only known speakers."""
    words = [v for _, v in field if isinstance(v, str) and 0 < len(v) <= _LONG and "\n" not in v]
    others = sum(a != b for a, b in pairwise(words))
    known = {w for w in {*words} if role_of(w) and decides(w)}
    return (
        len(words) > _OFTEN * records
        and 1 < len({*words}) <= _WHO
        and (2 * len(known) > len({*words}) or (sure and 3 * others > 2 * len(words)))
    )


def _acts(field: Field) -> bool:
    """Whether calls stand there: names with arguments, or texts of a call's form that begin with one of few words."""
    inner = [one for _, v in field if v for one in (v if isinstance(v, list) else [v])]
    named = [v for v in inner if isinstance(v, Mapping) and any(isinstance(x, str) and _NAME.fullmatch(x) for x in v.values())]
    named = [v for v in named if any(_is_given(x) or (isinstance(x, Mapping)) for x in v.values())]
    texts = [v.strip() for v in inner if isinstance(v, str) and _CALL.fullmatch(v.strip())]
    first = [re.split(r"\W", t, maxsplit=1)[0] for t in texts]
    written = (
        len(texts) > _OFTEN * len(inner)
        and len({*texts}) > 1
        and 2 * len({*first}) <= len(first) + 1
        and any(re.search(r"[ (\[]", t) for t in texts)
    )
    return len(inner) > 1 and (len(named) > _OFTEN * len(inner) or written)
