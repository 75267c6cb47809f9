"""What one episode did, in numbers: turns, calls, what failed or changed nothing, second thoughts, thinking, and tools only pretended."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rl_advisor.features.text.measures import bounded
from rl_advisor.features.text.repetition import again
from rl_advisor.features.text.turns import Turn

_CORRECTS = re.compile(
    r"\b(?:wait|actually|hold on|let me (?:re-?check|re-?think|try again|correct)|on second thought|i was wrong|my mistake)\b",
    re.IGNORECASE,
)
_THINKS = re.compile(r"<think(?:ing)?>(.{0,20000}?)(?:</think|\Z)", re.DOTALL)
_ENDS = re.compile(r"(?:\s|<\|[\w\u2581]{2,40}\|>|</s>){1,20}\Z")
"""What a decoded text may properly end with."""
_CONTROL = re.compile(r"<\|[\w\u2581]{2,40}\|>|</?s>|\[/?INST\]")
_RESULT_IN_SPEECH = re.compile(r"<(?:tool_response|tool_result|observation|function_results?|information)>|^Observation ?:", re.MULTILINE)
_CLAIMS_CALL = re.compile(
    r"\bi(?:'ve| have)? (?:just )?(?:ran|run|executed|searched|looked up|queried|called|tested|checked online)\b", re.IGNORECASE
)
_ERROR = re.compile(
    r"\W{0,4}(?:(?!no\b)(?:[\w.]{1,60} ){0,2}[\w.]{0,60}(?:error|exception|timeout)\b|"
    r"(?:fail\w*|invalid|unknown|no such|usage|unable|cannot|could not|http|[45]\d\d|rate limit|too many|traceback|upstream|service|bad|"
    r"missing|net::|\d+ validation error|connection|permission)\b|\{?\"(?:error|detail)\"(?!: ?(?:\"\"|null|false)))",
    re.IGNORECASE,
)
_LETTERS = 40
"""Characters of a turn that are looked at to see whether it holds words."""
SHORT = 600
"""Characters up to which a tool's answer can be an error and nothing else."""


def behaviour(turns: Sequence[Turn]) -> dict[str, float]:
    """The numbers of one episode by their names as metrics; NaN where an episode has none of what is measured."""
    model = [turn for turn in turns if turn.role == "assistant"]
    calls, answers = [call for turn in model for call in turn.calls], [turn for turn in turns if turn.role == "tool"]
    said = bounded("\n".join(turn.text for turn in model))
    others = any(turn.role != "assistant" for turn in turns)
    found = {
        "turns": sum(a.role != "assistant" == b.role for a, b in pairwise((Turn("", ""), *turns))),
        "tool_calls": len(calls),
        "tools": len({name for name, _ in calls}) or np.nan,
        "first_call": next((i for i, turn in enumerate(model, 1) if turn.calls), np.nan),
        "repeated_calls": again(calls),
        "tool_failures": np.mean([is_error(turn) for turn in answers]) if answers else np.nan,
        "idle_turns": again([turn.text for turn in answers]),
        "corrections": len(_CORRECTS.findall(said)),
        "thinking": sum(len(thought.split()) for thought in _THINKS.findall(said)),
        "control_tokens": bool(_CONTROL.search(_ENDS.sub("", said))),
        "pretended": bool((others and _RESULT_IN_SPEECH.search(said)) or (not calls and _CLAIMS_CALL.search(said))),
    }
    return {name: float(x) for name, x in found.items()}


def calls_by_tool(episodes: Sequence[Sequence[Turn]], most: int) -> dict[str, list[float]]:
    """How often each episode calls each of the commonest tools; nothing where there is but one."""
    used = [Counter(name for turn in turns for name, _ in turn.calls if name) for turns in episodes]
    common = Counter(name for one in used for name in one).most_common(most)
    return {name: [float(one[name]) for one in used] for name, _ in common} if len(common) > 1 else {}


def is_control(turns: Sequence[Turn]) -> bool:
    """Whether an episode is one of control: actions without a name and without a word."""
    return not any(turn.role == "assistant" and (turn.text.strip() or any(name for name, _ in turn.calls)) for turn in turns)


def moves(turns: Sequence[Turn]) -> dict[int, tuple[object, str]]:
    """Turn by turn of the model what it did and what came of it; none of control episodes that know no words."""
    if is_control(turns) and not any(c.isalpha() for t in turns for part in (t.text, *(a for _, a in t.calls)) for c in part[:_LETTERS]):
        return {}
    pairs = enumerate(pairwise((*turns, Turn("", ""))))
    return {i: (t.calls or t.text, after.text) for i, (t, after) in pairs if t.role == "assistant" and after.role != "assistant"}


def is_error(turn: Turn) -> bool:
    """Whether a tool's answer is an error: marked so by the file, or a short text that begins as errors do, or a traceback."""
    text = turn.text.strip()
    return turn.failed or (len(text) <= SHORT and bool(_ERROR.match(text))) or text.startswith("Traceback (most recent call last)")


def way(turns: Sequence[Turn]) -> int:
    """The same number for episodes that took the same way: the same calls in the same order, and the same last words."""
    last = next((turn.text for turn in reversed(turns) if turn.role == "assistant"), "")
    return hash((tuple(call for turn in turns for call in turn.calls), " ".join(last.lower().split())[-200:]))
