"""A reward's code, read and never run: what it pays, which holes and misses stand in it, and which episodes used them, since when.

Only the syntax tree is looked at. Names say what is the response and what the right answer; what is computed from either is followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rl_advisor.run import Run
from rl_advisor.samples.episodes import failures, looked_at
from rl_advisor.samples.failure_signs import same_answer
from rl_advisor.samples.rows import right_answers

if TYPE_CHECKING:
    import pandas as pd

LONGEST, MOST = 1 << 20, 40
_RESPONSE = re.compile(r"respon|completion|output|generat|pred|solution_str|candidate|model|text|content|trajector|messages", re.IGNORECASE)
_GOLD = re.compile(r"gold|truth|^gt$|target|referen|expected|label|^answers?$|correct_answer|^solution$", re.IGNORECASE)
_OPENS = re.compile(r"<(\w{1,30})>")


class Hole(NamedTuple):
    """A hole or a miss: of which kind, in which line, the code, and what it means."""

    kind: str
    line: int
    code: str
    means: str


_MEANS = {
    "substring": "the right answer anywhere in the response is enough: a response that lists many answers is paid",
    "no end": "the pattern needs no closing tag, so an answer that never ends, or goes on with anything, counts",
    "first match": "the first match counts, not the last: a corrected answer is missed, a decoy in front is paid",
    "length": "the length of the response is paid for itself",
    "count": "each further occurrence is paid, and nothing limits how many",
    "hidden error": "an error in here becomes a score as if it were the answer's",
    "runs the response": "the response is run as code by the reward itself",
    "exact text": "texts are compared as they are written: 12.0 for 12, or a trailing mark, is missed",
    "never checked": "nothing is compared with a right answer",
}


def read_reward(source: str) -> dict[str, Any]:
    """``pays`` (line, condition, how much) and ``holes`` of a reward's code; ``cannot_tell`` where it is no Python that can be read."""
    try:
        tree = ast.parse(source[:LONGEST])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
        return {"pays": [], "holes": [], "cannot_tell": [f"the code cannot be read: {type(why).__name__}"]}
    reader = _Reader()
    try:
        reader.visit(tree)
    except RecursionError:
        return {"pays": [], "holes": [], "cannot_tell": ["the code is nested too deeply"]}
    if reader.pays and not reader.compared:
        reader.holes.append(Hole("never checked", 1, "", _MEANS["never checked"]))
    seen = {(hole.kind, hole.line): hole._asdict() for hole in reader.holes}
    return {"pays": reader.pays[:MOST], "holes": list(seen.values())[:MOST], "cannot_tell": []}


class _Reader(ast.NodeVisitor):
    """Walks the tree once, in order, and follows which names come from the response and which from the right answer."""

    def __init__(self) -> None:
        self.pays: list[dict[str, Any]] = []
        self.holes: list[Hole] = []
        self.compared = False
        self._from: dict[str, str] = {}
        self._under: list[str] = []
        self._grows: dict[str, str] = {}

    def _of(self, node: ast.AST) -> set[str]:
        """Whose words an expression holds: response, gold, or both."""
        found = set()
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else part.arg if isinstance(part, ast.arg) else ""
            if name:
                kind = self._from.get(name) or ("response" if _RESPONSE.search(name) else "gold" if _GOLD.search(name) else "")
                found |= {kind} - {""}
        return found

    def _hole(self, kind: str, node: ast.expr | ast.stmt | ast.ExceptHandler) -> None:
        code = ast.unparse(node) if not isinstance(node, ast.ExceptHandler) else "except"
        self.holes.append(Hole(kind, node.lineno, code[:160], _MEANS[kind]))

    def visit_Assign(self, node: ast.Assign) -> None:
        whose = self._of(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and len(whose) == 1:
                self._from[target.id] = next(iter(whose))
                self._grows[target.id] = self._growing(node.value)
            if isinstance(target, ast.Name):
                self._paid(target.id, node.value, node.lineno)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._paid(node.target.id, node.value, node.lineno, taken=isinstance(node.op, ast.Sub))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._paid("reward", node.value, node.lineno)
        self.generic_visit(node)

    def _paid(self, name: str, value: ast.expr, line: int, *, taken: bool = False) -> None:
        """A number that is given to something called a reward: how much, where."""
        if not re.search(r"reward|score|bonus|penalt|points", name, re.IGNORECASE):
            return
        if isinstance(value, ast.IfExp):
            self._under.append(ast.unparse(value.test)[:120])
            self._paid(name, value.body, line, taken=taken)
            self._under.pop()
        elif any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) and part.value for part in ast.walk(value)):
            much = f"{'-' * taken}{ast.unparse(value)[:120]}"
            self.pays.append({"line": line, "condition": " and ".join(self._under)[:200] or "always", "how_much": much})
        if not taken and (kind := self._growing(value)):
            self._hole(kind, value)

    def _growing(self, node: ast.expr) -> str:
        """Which unlimited amount of the response a sum or a product holds: its length, a count in it, or nothing."""
        if isinstance(node, ast.BinOp):
            return self._growing(node.left) or ("" if isinstance(node.op, ast.Sub) else self._growing(node.right))
        if isinstance(node, ast.Name):
            return self._grows.get(node.id, "")
        if not isinstance(node, ast.Call):
            return ""
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "float":
            return next(filter(None, map(self._growing, node.args)), "")
        kind = {"len": "length", "count": "count"}.get(name, "")
        return kind if kind and "response" in self._of(node) else ""

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._under.append(ast.unparse(node.test)[:120])
        for inner in node.body:
            self.visit(inner)
        self._under[-1] = f"not ({self._under[-1]})"
        for inner in node.orelse:
            self.visit(inner)
        self._under.pop()

    def visit_Compare(self, node: ast.Compare) -> None:
        right = node.comparators[0]
        a, b = self._of(node.left), self._of(right)
        self.compared |= "gold" in a | b and "response" in a | b
        if isinstance(node.ops[0], ast.In) and "gold" in a and "response" in b and not _is_list(right):
            self._hole("substring", node)
        plain = isinstance(node.left, ast.Name) and isinstance(right, ast.Name)
        if isinstance(node.ops[0], ast.Eq) and plain and "gold" in a | b and "response" in a | b:
            self._hole("exact text", node)
        if any(isinstance(p, ast.Call) and isinstance(p.func, ast.Name) and p.func.id == "len" for p in ast.walk(node.left)) and self._long(
            node
        ):
            self._hole("length", node)
        self.generic_visit(node)

    def _long(self, node: ast.Compare) -> bool:
        """Whether more length than some number is asked of the response."""
        bound = node.comparators[0]
        big = isinstance(bound, ast.Constant) and isinstance(bound.value, int | float) and bound.value >= 20
        return isinstance(node.ops[0], ast.Gt | ast.GtE) and big and "response" in self._of(node.left)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        whose = set().union(*(self._of(arg) for arg in node.args)) if node.args else set()
        self.compared |= {"gold", "response"} <= whose
        if name in ("eval", "exec") and "response" in whose:
            self._hole("runs the response", node)
        pattern = node.args[0] if node.args and name in ("search", "findall", "match", "compile", "finditer") else None
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and _no_end(pattern.value):
            self._hole("no end", node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        call = node.value
        found = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("findall", "split")
        if found and isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1) and "response" in self._of(call):
            self._hole("first match", node)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        broad = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))
        if broad and any(isinstance(part, ast.Return | ast.Assign | ast.AugAssign | ast.Pass | ast.Continue) for part in node.body):
            self._hole("hidden error", node)
        self.generic_visit(node)


def _is_list(node: ast.expr) -> bool:
    """Whether membership is asked of several things rather than of one text."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "findall", "splitlines")
    return called or isinstance(node, ast.List | ast.Tuple | ast.Set | ast.ListComp)


def _no_end(pattern: str) -> bool:
    """Whether a pattern opens a tag and takes what follows without asking for the tag's end."""
    opened = _OPENS.search(pattern)
    return bool(opened) and f"</{opened[1]}>" not in pattern.replace("\\", "") if opened else False


def used(run: Run, found: dict[str, Any]) -> dict[str, Any]:
    """What was read, each hole with how many paid episodes used it, since which step, and one of them; None where samples cannot tell."""
    rows = looked_at(run)
    if not len(rows):
        return found
    _, paid = failures(rows)
    gold = right_answers(rows)
    holes = []
    for hole in found["holes"]:
        by = _used_by(hole["kind"], rows, gold)
        if by is not None:
            hits = np.flatnonzero(by & paid)
            first = rows.iloc[hits[np.argmin(rows["step"].to_numpy()[hits])]] if hits.size else None
            told: dict[str, Any] = {"episodes": int(hits.size), "of_paid": int(paid.sum())}
            if first is not None:
                told |= {"since": float(first["step"]), "source": str(first.get("source", "")), "row": int(first.get("row", 0))}
            holes.append({**hole, **told})
        else:
            holes.append(hole)
    return {**found, "holes": holes}


def _used_by(kind: str, rows: pd.DataFrame, gold: list[str] | None) -> np.ndarray | None:
    """Which episodes show what a hole allows; None where it cannot be seen."""
    from rl_advisor.features.text.measures import final_answer

    texts = rows["response"].tolist()
    if kind == "substring" and gold is not None:
        return np.array([bool(g) and g in t and not same_answer(final_answer(t), g) for t, g in zip(texts, gold, strict=True)])
    looks: dict[str, Callable[[str], bool]] = {
        "no end": lambda t: any(f"</{m}>" not in t for m in _OPENS.findall(t)),
        "first match": lambda t: max((t.count(f"<{m}>") for m in set(_OPENS.findall(t))), default=0) > 1,
    }
    return np.array([looks[kind](t) for t in texts]) if kind in looks else None


def code_lines(found: dict[str, Any]) -> Iterator[str]:
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
