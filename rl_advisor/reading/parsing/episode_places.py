"""Where in a row or a document an episode lies, and where several do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from rl_advisor.features.text.speakers import part_of, verdict
from rl_advisor.features.text.turns import Turn, is_episode, turns_in
from rl_advisor.reading.parsing.inferred_turns import ROLE, heard, same, side_by_side, speaker
from rl_advisor.reading.parsing.nested_values import OPENS, as_json, mapping, mappings, turn_numbers
from rl_advisor.reading.parsing.sample_names import BESIDE

_DEPTH, _NODES, _FEW, _MAIN, _GROWS = 6, 300, 8, 0.9, 200
"""How deep and into how many places of a row is looked, members of a list by which it is known, the share of the words that is all, and
characters with which a text that grows begins."""
_ANY = "*"
"""What stands in a path for names that hold the same."""
_ASKED = re.compile(
    r"\{['\"](?:name|tool|function)['\"]: ?['\"]([^'\"]{1,80})['\"], ?['\"]arg\w{0,8}['\"]: ?['\"]?(.{0,4000}?)['\"]?"
    r"(?:, ?['\"](?:response|result|output|observation)['\"]: ?(.{0,20000})|\Z)",
    re.DOTALL,
)


def told_apart(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Turns of which those who go by names of their own are models; where no model speaks, calls apart that tools tell."""
    known = ("user", "tool", "system", "unknown")
    named = [t if t.role in known else t._replace(role="assistant") for t in turns]
    return tuple(named if any(t.role == "assistant" for t in named) else chain(*map(_call_apart, named)))


def _call_apart(turn: Turn) -> Iterator[Turn]:
    """What a tool was asked and what it answered, where one turn of a tool tells both, be it cut."""
    told = _ASKED.match(turn.text) if turn.role == "tool" else None
    if told:
        yield Turn("assistant", "", ((told[1], told[2]),))
        turn = turn._replace(text=(told[3] or "").strip("'\"{}"))
    if not told or turn.text:
        yield turn


def places(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value inside a mapping with its path, nearest first; what lies inside of a list is not looked into."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    for path, found in waiting:
        yield path, found
        if isinstance(found, Mapping) and len(path) < _DEPTH and len(waiting) < _NODES:
            waiting += islice((((*path, str(k)), v) for k, v in found.items()), _NODES)


def found_in(row: Mapping[str, Any], *, sure: bool = False) -> tuple[tuple[str, ...], tuple[Turn, ...]]:
    """Where the turns of a row lie, and the turns: the innermost place that says nearly as much as any; nothing where none do.

    Messages that say who speaks go before whatever has to be inferred, and that before a text. A row that is ``sure`` to be an episode
    may hold nothing but the model's words.
    """
    every = [at for at in places(row) if not any(part_of(name) == "asked" for name in at[0])]
    turns_at = cache(lambda i: _turns_at(*every[i]))
    for may_be, alone in dict.fromkeys(((speaks_for_itself, True), (_is_nested, False), (_is_nested, sure), (_is_text, False))):
        told = [
            (path, turns)
            for i, (path, value) in enumerate(every)
            if may_be(value) and (turns := turns_at(i)) and (alone or is_episode(turns))
        ]
        if told:
            most = max(_words(turns) for _, turns in told)
            return max((at for at in told if _words(at[1]) >= _MAIN * most), key=lambda at: len(at[0]))
    return (), ()


def speaks_for_itself(value: Any) -> bool:
    """Whether messages lie there that say who speaks, the model among them, or steps of which nothing but the tokens was kept."""
    every = mappings(value) if isinstance(value, (list, tuple, np.ndarray)) else []
    whose = [speaker(mapping(one.get("message")) or one, "")[0] for one in every]
    bare = bool(every) and all({"tokens", "done"} <= turn_numbers(one).keys() and not heard(one)[0].text for one in every)
    return bare or ("assistant" in whose and all(whose))


def in_words(turns: tuple[Turn, ...]) -> bool:
    """Whether turns that were inferred are an episode, and say something in letters on both sides: numbers alone are metrics."""
    sides = {t.role == "assistant" for t in turns if any(c.isalpha() for part in (t.text, *(a for _, a in t.calls)) for c in part[:ROLE])}
    return len(sides) > 1 and is_episode(turns)


def _is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple, np.ndarray))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) > ROLE


def _turns_at(path: tuple[str, ...], value: Any) -> tuple[Turn, ...]:
    if not path:
        return told_apart(heard(side_by_side(mapping(value))))
    return turns_in(value) if isinstance(value, str) and not value.startswith(OPENS) else told_apart(heard(value))


def _words(turns: Sequence[Turn]) -> int:
    return sum(len(turn.text) + sum(map(len, chain(*turn.calls))) for turn in turns)


def judged(row: Mapping[str, Any]) -> bool:
    """Whether a row tells in a flag or a word how something ended that was done or said, and is not one call or step itself."""
    told = {
        path[0]
        for path, v in islice(places(row), _NODES)
        if 0 < len(path) < 3 and BESIDE["judged"].search(path[-1]) and not np.isnan(verdict(v))
    }
    step = any(part_of(k) in ("done", "name", "args") and isinstance(v, (str, Mapping)) for k, v in row.items() if k not in told)
    return bool(told) and not step and (work_in(row) != "" or isinstance(row.get("error"), str) or [] in row.values())


def work_in(row: Mapping[str, Any]) -> str:
    """The name of what was done or said in a row where no name tells: what holds most of what is nobody else's; '' where little is."""
    sizes = {
        name: len(value if isinstance(value, str) else as_json(value))
        for name, value in row.items()
        if (_is_text(value) or (value and isinstance(value, (list, dict))))
        and part_of(name) not in ("asked", "system", "aside", "error")
        and not BESIDE["told"].search(name)
    }
    return max(sizes, key=lambda name: (isinstance(row[name], str), sizes[name]), default="")


def kin_in(row: Mapping[str, Any]) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """The most mappings that lie alike inside a row and are episodes each, no steps of one that grows; nothing where there are none."""
    own, kin = judged(row), dict[tuple[str, ...], list[dict[str, Any]]]()
    for path, every in _alike(row):
        kin.setdefault(path, []).extend(every)
    for path, every in sorted(kin.items(), key=lambda at: -len(at[1])):
        some = every[:_FEW]
        looked = [heard(one) for one in some if not speaker(one, "")[0] and (found_in(one)[1] or (not own and judged(one)))]
        grew = all(len(a) < len(b) and all(map(same, a, b)) for a, b in pairwise(looked))
        if 2 * len(looked) > len(some) and (len(looked) < 2 or not grew):
            return path, every
    return (), []


def grown(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether a text of one row begins another, longer one of the next."""
    texts = [(v, b.get(k)) for k, v in a.items() if isinstance(v, str) and len(v) > _GROWS]
    return any(isinstance(later, str) and len(later) > len(v) and later.startswith(v[:_GROWS]) for v, later in texts)


def _alike(told: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[dict[str, Any]]]]:
    """Mappings that a mapping lists or has by names, wherever they lie; what lies alike under several names lies in one place."""
    held = {key: value for key, value in told.items() if isinstance(value, (Mapping, list, np.ndarray))}
    first = [mapping(next(iter(mappings(v)), None) if not isinstance(v, Mapping) else v).keys() for v in islice(held.values(), 2)]
    named = len(held) == len(told) > 1 and len(first) == 2 and 2 * len(first[0] & first[1]) > len(first[0] | first[1])
    for key, value in held.items():
        at = (*path, _ANY if named else str(key))
        by = {"key": str(key)} if named else {}
        if not isinstance(value, Mapping):
            yield at, [{**by, **one} for one in mappings(value)]
        elif len(at) < _DEPTH:
            if named:
                yield at, [{**by, **value}]
            yield from _alike(value, at)
