"""Whose words a text of several turns holds: what the model said itself, without what tools, users and searches answered."""

import re

_TURN = re.compile(r"^\[(assistant|user|tool|system|developer|unknown)\] ?", re.MULTILINE)
_TEMPLATE = re.compile(r"^(?:<\|im_start\|>)?(assistant|user|tool|system)[ \t]*$", re.MULTILINE)
_RESULT = re.compile(r"<(tool_response|information|interpreter|observation|tool_result|function_results?|output)>")
_OBSERVATION = re.compile(r"^Observation ?:[^\n]{0,20000}$", re.MULTILINE)


def spoken(text: str) -> str:
    """The model's own words: without the turns of others and without the results that tools wrote into its text.

    Turns are told by the marks of messages that were written out, or by those of a chat template that was decoded with its roles; a text of
    one turn stays as it is.
    """
    if text.startswith("[assistant]"):
        text = _own(text, _TURN)
    elif "<tool_response>" in text or "<|im_start|>" in text:
        text = _own(f"assistant\n{text}", _TEMPLATE)
    text = _without_results(text) if "<" in text else text
    return _OBSERVATION.sub(" ", text) if "Observation" in text else text


def _own(text: str, mark: re.Pattern[str]) -> str:
    marks = list(mark.finditer(text))
    ends = [*(m.start() for m in marks[1:]), len(text)]
    return "\n".join(text[m.end() : end].strip() for m, end in zip(marks, ends, strict=True) if m[1] == "assistant")


def _without_results(text: str) -> str:
    """The text without what stands between the marks of a tool's result; a mark that is never closed is part of the text."""
    kept, at, never = [], 0, set[str]()
    for found in _RESULT.finditer(text):
        if found.start() < at or found[1] in never:
            continue
        end = text.find(f"</{found[1]}>", found.end())
        if end < 0:
            never.add(found[1])
            continue
        kept.append(text[at : found.start()])
        at = end + len(found[1]) + 3
    return " ".join([*kept, text[at:]])
