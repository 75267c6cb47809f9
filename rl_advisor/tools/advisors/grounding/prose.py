"""A model's prose, held to its claims: a sentence cites them as [1] and says no number itself; what rests on nothing is struck."""

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from rl_advisor.tools.advisors.grounding.claims import Checked

_CITED = re.compile(r" ?\[(\d{1,3}(?:, ?\d{1,3}){0,20})\]")
_AFTER_STOP = re.compile(r"([.!?])((?: ?\[\d{1,3}(?:, ?\d{1,3}){0,20}\])+)")
_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|\n+")
_AROUND = ".,;:!?()[]{}\"'`*"


@dataclass(frozen=True)
class Prose:
    """What claims and names a text may rest on, and what became of its sentences."""

    checked: Sequence[Checked]
    names: AbstractSet[str]
    """Names of the run and of ours: the only words that may hold digits."""
    struck: list[tuple[str, str]] = field(default_factory=list)
    """Sentences that were left out, each with why."""

    def kept(self, text: str, *, cites: bool = True) -> str:
        """The text without what rests on nothing, each citation as the claim in our words where it is first made.

        ``cites`` asks that every sentence cites a claim; without, one that says no number may stand alone.
        """
        told: set[int] = set()
        out = []
        for sentence in _END.split(_AFTER_STOP.sub(r"\2\1", text)):
            if not sentence.strip():
                continue
            if why := self._wrong(sentence, cites=cites):
                self.struck.append((sentence.strip(), why))
            else:
                out.append(_CITED.sub(lambda m: self._told(_numbers(m), told), sentence).strip())
        return " ".join(out)

    def _wrong(self, sentence: str, *, cites: bool) -> str:
        """Why a sentence cannot stand; empty when it can."""
        cited = [n for m in _CITED.finditer(sentence) for n in _numbers(m)]
        if any(not 0 < n <= len(self.checked) for n in cited):
            return "it cites a claim that is not there"
        if failed := next((n for n in cited if self.checked[n - 1].why), 0):
            return f"claim {failed} does not hold"
        if not cited and cites:
            return "it cites no claim"
        if loose := next((w for w in _CITED.sub(" ", sentence).split() if self._counts(w)), ""):
            return f"{loose[:40]} is a number in prose: make it a claim and cite that"
        return ""

    def _counts(self, word: str) -> bool:
        """Whether a word holds a digit and is no name."""
        bare = word.strip(_AROUND)
        return bare not in self.names and word not in self.names and any(unicodedata.category(c)[0] == "N" for c in word)

    def _told(self, cited: Sequence[int], told: set[int]) -> str:
        fresh = [n for n in dict.fromkeys(cited) if n not in told]
        told.update(fresh)
        return f" ({'; '.join(self.checked[n - 1].says for n in fresh)})" if fresh else ""


def _numbers(cited: re.Match[str]) -> list[int]:
    return [int(n) for n in cited[1].split(",")]
