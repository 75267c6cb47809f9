"""Numbers that people give in their own words: "critic loss goes to 1e9", "reward dropped from 0.8 to 0.1", a row cut out of a table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rl_advisor.curves.task import METHOD, spoken_of
from rl_advisor.discovery import table
from rl_advisor.reading.guessing import guess
from rl_advisor.reading.translating import our_name
from rl_advisor.run import Curve
from rl_advisor.settings.of_run import TOLD
from rl_advisor.vocabulary import metric
from rl_advisor.vocabulary.dialects import dialects

MOST = 40
"""Metrics that are taken from one text."""
LONGEST = 4
"""Words of a name."""
_TOKEN = re.compile(r"[-+]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?\d++)?+(?!\w|\.\d)%?|\w[\w/]*+|->|→|[^\s\w]")
_NUMBER = re.compile(r"[-+]?(?:\d++\.?+\d*+|\.\d++)(?:e[-+]?\d++)?+%?|nan|inf|zero", re.IGNORECASE)
_BETWEEN = re.compile(
    r"is|was|are|were|will|would|be|been|also|flat|growing|rising|increasing|dropping|falling|of|at|to|from|up|down|near|around|about|almost"
    r"|exactly|already|now|then|still|the|a|value|very|suddenly|only|just"
    r"|always|constantly|constant|approximately|roughly|equals?|shows|got|gets|goe?s?|going|went|sta(?:ys|yed|nds)|stuck|sits"
    r"|reache[sd]|hits?|drop(?:s|ped)?|f(?:alls|ell)|jump(?:s|ed)|r(?:ises|ose)|grows|grew|climb(?:s|ed)|(?:explod|improv|increas|decreas)e[sd]"
    r"|bl(?:ow|ew)s?|sh(?:oots|ot)|decay(?:s|ed)|(?:collaps|plummet|spik|diverg)e?[sd]?|bec(?:omes|ame)|[=:~≈|*`,<>]",
    re.IGNORECASE,
)
"""Words and signs that may stand between a name and its number."""
_COUNTED = re.compile("(?i)(?:time)?steps|episodes|epochs|iterations|updates|frames|rows|samples|prompts|seeds|gpus|nodes")
"""Words behind a number that counts them, and is no value of what stands before it."""
_ONWARDS = re.compile("(?i)to|->|→|down|up|about|around")
_NO_METRIC = re.compile("(?i)steps?|epochs?|loss|max|min|mean|std|time|length|n|k")
"""Words that are no metric by themselves, whatever a framework calls so."""
_ANYBODYS = ("accuracy", "std")
"""What one framework has a meaning for, and everybody writes."""
_MEANT = {"alpha": re.compile(r"(?i)\b(sac|entropy|temperature)\b")}
"""Letters that mean something to one method: words without which a sentence does not mean it."""
_DRIFT = frozenset(("kl", "kl divergence", "kl-divergence"))
"""What people call the distance of two policies, whichever they mean."""
_SENTENCE = re.compile(r"\b[A-Za-z]{1,30}+ [A-Za-z]{1,30}+ [A-Za-z]")
"""Words in a row, as no line of a log has them."""
_FOLDERS = ("", "train/", "training/", "actor/", "critic/", "rollout/", "losses/", "charts/")
_OUTSIDE = re.compile(
    r"my|the|an?|our|its|their|this|and|but|or|while|with|that|when|if|then|so|also|where|ha(?:ve|s)|i|for|of|in|on|by|per|over|after"
    r"|is|are|was|does|why|how|what|which|can|should|every|each|functions?|no|not|non|never|below|above|under|than|between|m?s|secs?|seconds?|minutes?"
    r"|true|false|null|none|yes|at|set",
    re.IGNORECASE,
)
"""Words that no name has."""
_SAID = {
    "model": r"\b(?:[A-Za-z][\w.]{0,20}-){0,5}\d{1,3}(?:\.\d{1,2})?[bB]\b(?:-[\w-]{1,30})?(?!\W+tokens)",
    "weights": r"(?i)\bfull\b(?=[ _-](?:param|fine|ft\b|sft|weight|model))|(?<!no )(?<!not )(?<!without )\bq?lora\b",
}
"""Settings that stand in sentences."""
NAMES = 400
"""Different names of one text that are looked up."""
LENGTH = 20_000
"""Characters of a text that are looked at."""
_CONTEXT = 4_000
"""Characters of the text by which a name that means two things is understood."""


def settings_said(text: str) -> dict[str, str]:
    """What a text says in passing: the algorithm where it names those of one method, the task, the model, what of it is trained."""
    methods = {
        method: found[0] for method, words in METHOD["words"].items() if (found := re.findall(rf"(?i)\b(?:{words})\b", text[:_CONTEXT]))
    }
    said = {name: found[0] for name, words in _SAID.items() if (found := re.findall(words, text[:_CONTEXT]))}
    for task in table(__file__, "tasks.toml"):
        if re.search(rf"(?i)\b{task.replace('-', '[ _-]?')}", text[:_CONTEXT]):
            said.setdefault("named_task", task)
    return said | ({"algorithm": methods.popitem()[1].lower()} if len(methods) == 1 else {})


def told_in(text: str) -> dict[str, Curve]:
    """The metrics of which a text gives numbers, by our names: two points where it says from what to what, else one."""
    found: dict[str, Curve] = {}
    seen: set[tuple[str, int]] = set()
    for names, values in _given(_TOKEN.findall(text[:LENGTH])):
        new = [name for name in names if (name, len(values)) not in seen] if len(seen) < NAMES else []
        seen.update((name, len(values)) for name in new)
        named = ((meaning(name, values, text[:_CONTEXT]), name) for name in new)
        ours, name = next(((ours, name) for ours, name in named if ours), (None, ""))
        if ours and len(found) < MOST and (ours not in found or found[ours].value.size < len(values)):
            found[ours] = curve_of(ours, name, values)
    return found


def curve_of(ours: str, raw: str, values: Sequence[float]) -> Curve:
    """Numbers that stand in a text, as a metric: a row for each."""
    return Curve(ours, raw, "the text", np.arange(1.0, len(values) + 1), np.array(values), guessed=True, note=TOLD)


def _given(tokens: Sequence[str]) -> Iterator[tuple[list[str], list[float]]]:
    """The names that may be meant, the longest first, with the numbers that are said of one of them."""
    at = 0
    while at < len(tokens):
        if not _NUMBER.fullmatch(tokens[at]):
            at += 1
            continue
        values, end = [_number(tokens[at])], at + 1
        if _counts(tokens[end : end + 2]):
            at = end
            continue
        onwards = end
        while onwards < len(tokens) and onwards - end < 3 and _ONWARDS.fullmatch(tokens[onwards]):
            onwards += 1
        if end < onwards < len(tokens) and _NUMBER.fullmatch(tokens[onwards]):
            values, end = [*values, _number(tokens[onwards])], onwards + 1
        last = at
        while last and _BETWEEN.fullmatch(tokens[last - 1]) and at - last < 6:
            last -= 1
        yield [" ".join(tokens[first:last]) for first in range(max(0, last - LONGEST), last) if _a_name(tokens[first:last])], values
        at = end


def _counts(after: Sequence[str]) -> bool:
    """Whether the word behind a number says what it counts, and has no number of its own."""
    value = after[1] in "=:" or _NUMBER.fullmatch(after[1]) if len(after) > 1 else None
    return bool(after) and bool(_COUNTED.fullmatch(after[0])) and not value


def _a_name(words: Sequence[str]) -> bool:
    alone = len(words) == 1 and _NO_METRIC.fullmatch(words[0])
    return not alone and all(word[0].isalpha() for word in words) and not a_sentence(words)


def a_sentence(words: Sequence[str]) -> bool:
    """Whether one of the words joins others to a sentence, as none in a name does."""
    return any(map(_OUTSIDE.fullmatch, words))


def _number(token: str) -> float:
    return float(token[:-1]) / 100 if token.endswith("%") else float("0" if token.lower() == "zero" else token)


def meaning(name: str, values: Sequence[float], text: str = "") -> str | None:
    """What a name means: the one thing that all frameworks that use it mean, with or without its folder, else what its words say."""
    if name.lower() in _DRIFT and _SENTENCE.search(text):
        return "kl/old" if spoken_of(text) == "control" else "kl/ref"
    if (words := _MEANT.get(name)) and not words.search(text):
        return None
    if meant := by_frameworks(name):
        return next(iter(meant)) if len(meant) == 1 else None
    around = replace(curve_of(text, text, values), mapped=True)
    named = guess({name: replace(curve_of(name, name, values), guessed=False), text: around}, unit="episodes")
    return next((ours for ours, curve in named.items() if curve.guessed and metric(ours)), None)


@lru_cache(4_096)
def by_frameworks(name: str) -> frozenset[str]:
    """What the frameworks mean by a name, as it stands or in a folder of theirs; empty where none uses it."""
    joined = name.replace(" ", "_")
    for raw in () if joined in _ANYBODYS else (name, *(folder + joined for folder in _FOLDERS)):
        meant = frozenset(
            ours for dialect in dialects().values() if (ours := our_name(raw, dialect)) is not None and not ours.startswith("eval/other/")
        )
        if meant:
            return meant
    return frozenset()
