"""A reward's code, read and never run: what it pays, which holes and misses stand in it, and which episodes used them, since when.

Only the syntax tree is looked at. Names say what is the response and what the right answer, and what is computed from either keeps its
name; statements written so are held against the patterns of ``reward_code.toml``.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.features.text.measures import final_answer
from rl_advisor.output import Answer
from rl_advisor.run import Run
from rl_advisor.samples.episodes import failures, looked_at
from rl_advisor.samples.rows import Frame, right_answers, where
from rl_advisor.samples.same_answers import same_answer

LONGEST, LINE, MOST = 1 << 20, 1_000, 40
_OPENS = re.compile(r"<(\w{1,30})>")
Known = dict[str, str]
"""Names of the code and what they stand for: the response, the right answer, or an amount of the response."""


_HELD = table(__file__, "reward_code.toml")
_NAMES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _HELD["names"].items()}
_HOLES = [{**hole, "pattern": re.compile(hole["pattern"])} for hole in _HELD["hole"]]


def read_reward(source: str) -> Answer:
    """``pays`` (line, condition, how much) and ``holes`` of a reward's code; ``cannot_tell`` where it is no Python that can be read."""
    known: Known = {}
    pays: list[Answer] = []
    holes: dict[tuple[str, str], Answer] = {}
    compared = False
    try:
        for node, under in _parts(ast.parse(source[:LONGEST]).body, ()):
            text, paid = _normal(node, known), _reward_of(node)
            taken = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub)
            given = "" if paid is None or taken else _normal(paid, known)
            compared |= "gold" in text and "response" in text
            pays += _pays(paid, under, taken=taken) if paid is not None else ()
            for hole in _HOLES:
                if found := hole["pattern"].search(text if hole["of"] == "any" else given):
                    told = {"kind": hole["kind"], "line": node.lineno, "code": ast.unparse(node)[:160], "means": hole["means"]}
                    holes.setdefault((hole["kind"], found[0]), told)
            _learn(node, known)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
        return {"pays": [], "holes": [], "cannot_tell": [f"the code cannot be read: {type(why).__name__}"]}
    unchecked = {"kind": "never checked", "line": 1, "code": "", "means": "nothing is compared with a right answer"}
    listed = [*holes.values(), *([unchecked] if pays and not compared else [])]
    return {"pays": pays[:MOST], "holes": listed[:MOST], "cannot_tell": []}


Part = ast.expr | ast.stmt | ast.ExceptHandler


def _parts(body: Sequence[ast.stmt], under: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Every statement without statements of its own, and every condition and handler, with the conditions it stands under."""
    for node in body:
        if isinstance(node, ast.If):
            test = ast.unparse(node.test)[:120]
            yield node.test, under
            yield from _parts(node.body, (*under, test))
            yield from _parts(node.orelse, (*under, f"not ({test})"))
            continue
        inner = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        for handler in getattr(node, "handlers", []):
            yield handler, under
            inner.append(handler.body)
        if not any(inner):
            yield node, under
        for part in inner:
            yield from _parts(part, under)


def _normal(node: Part, known: Known) -> str:
    """The code of a part with its names said as what they stand for."""
    told = deepcopy(node)
    for name in ast.walk(told):
        if isinstance(name, ast.Name):
            meant = (ours for ours, pattern in _NAMES.items() if ours != "reward" and pattern.search(name.id))
            name.id = known.get(name.id) or next(meant, name.id)
    return ast.unparse(told)[:LINE]


def _learn(node: Part, known: Known) -> None:
    """Gives a name that is assigned something of the response, or of the right answer, that meaning."""
    if isinstance(node, ast.Assign):
        text = _normal(node.value, known)
        grows = next((hole["kind"] for hole in _HOLES if hole["of"] == "paid" and hole["pattern"].search(text)), "")
        whose = [name for name in ("response", "gold") if re.search(rf"\b{name}\b", text)]
        for target in (t.id for t in node.targets if isinstance(t, ast.Name) and len(whose) == 1):
            known[target] = {"length": "len(response)", "count": "response.count()"}.get(grows, whose[0])


def _reward_of(node: Part) -> ast.expr | None:
    """What is returned, or given to something called a reward; None for anything else."""
    if isinstance(node, ast.Return):
        return node.value
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    named = any(isinstance(t, ast.Name) and _NAMES["reward"].search(t.id) for t in targets)
    return node.value if named and isinstance(node, ast.Assign | ast.AugAssign) else None


def _pays(value: ast.expr, under: tuple[str, ...], *, taken: bool) -> Iterator[Answer]:
    """A number that is paid: how much, in which line, under which conditions."""
    if isinstance(value, ast.IfExp):
        yield from _pays(value.body, (*under, ast.unparse(value.test)[:120]), taken=taken)
    elif any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) and part.value for part in ast.walk(value)):
        much = f"{'-' * taken}{ast.unparse(value)[:120]}"
        yield {"line": value.lineno, "condition": " and ".join(under)[:200] or "always", "how_much": much}


def used(run: Run, found: Answer) -> Answer:
    """What was read, each hole with how many paid episodes used it, since which step, and one of them; None where samples cannot tell."""
    rows = looked_at(run)
    if not len(rows):
        return found
    _, paid = failures(rows)
    gold = right_answers(rows)
    holes = []
    for hole in found["holes"]:
        by, told = _used_by(hole["kind"], rows, gold), {}
        if by is not None:
            hits = rows[by & paid]
            told = {"episodes": len(hits), "of_paid": int(paid.sum())}
            if len(hits):
                first = where(hits.loc[hits["step"].idxmin()])
                told |= {"since": first["step"], "source": first["source"], "row": first["row"]}
        holes.append({**hole, **told})
    return {**found, "holes": holes}


def _used_by(kind: str, rows: Frame, gold: list[str] | None) -> np.ndarray | None:
    """Which episodes show what a hole allows; None where it cannot be seen."""
    texts = rows["response"].tolist()
    if kind == "substring" and gold is not None:
        return np.array([bool(g) and g in t and not same_answer(final_answer(t), g) for t, g in zip(texts, gold, strict=True)])
    looks: dict[str, Callable[[str], bool]] = {
        "no end": lambda t: any(f"</{m}>" not in t for m in _OPENS.findall(t)),
        "first match": lambda t: max((t.count(f"<{m}>") for m in set(_OPENS.findall(t))), default=0) > 1,
    }
    return np.array([looks[kind](t) for t in texts]) if kind in looks else None


def code_lines(found: Answer) -> Iterator[str]:
    """What is paid and what the holes are, a sentence each."""
    for part in found["pays"]:
        yield f"line {part['line']} pays {part['how_much']} where {part['condition']}"
    for hole in found["holes"]:
        seen = ""
        if "episodes" in hole:
            since = f", first at step {hole['since']:g} ({hole['source']} row {hole['row']})" if hole["episodes"] else ""
            seen = f" ({hole['episodes']} of {hole['of_paid']} paid episodes show it{since})"
        yield f"line {hole['line']}, {hole['kind']}: {hole['means']}{seen}"
    yield from (f"cannot tell: {why}" for why in found["cannot_tell"])
