"""What a run trains: the kind of training, and what says so. Asked once; nothing else looks for words.

Kinds are weighed: our metrics, words of raw names and words of the configuration each add to a kind (``task.toml``), and a kind that enough
speaks for is told with its evidence. Where no particular kind is told, it is the widest that the metrics show, ``language`` or ``control``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rl_advisor.discovery import table
from rl_advisor.output import wording
from rl_advisor.run import Run
from rl_advisor.vocabulary import words
from rl_advisor.vocabulary.dialects import dialects

TRAITS: Mapping[str, list[str]] = table(__file__, "traits.toml")
METHOD = table(__file__, "method.toml")
"""What tells how a run learns."""
_SPOKEN = {name: re.compile(words) for name, words in table(__file__, "spoken.toml").items()}
_PAIRED = re.compile(r"^(chosen|reject(ed)?) reward")
_ALGORITHM = re.compile(
    r"(?:^|[._-])(?:algo|algorithm|algorithm_name|trainer|trainer_type|loss_type|method|task|stage|pref_loss|finetuning_type|command)$"
)
"""Keys of a configuration that name how is trained."""
ENOUGH = 2.0
"""Weight from which a kind is told: one metric of ours, or a word and the configuration, or two names."""
SAID = 3.0
"""Weight of a configuration that says it, or of words that tell a kind together."""
START, TOGETHER = 0.05, 3.0
"""Share of its range at which a curve begins at nothing, and how many times as far from it as from each other two begin together."""
SPEAKING = frozenset({"language", "tools", "experts"})
"""What a run of a language model has to do with."""
WITHOUT_REWARD = frozenset({"preference", "reward_model", "supervised"})
"""Kinds in which nothing is sampled and nothing earns a reward."""


@dataclass(frozen=True)
class Task:
    """What is trained, and what says so."""

    kind: str
    """The name of a row of ``task.toml``, else ``language`` or ``control``; empty where nothing tells."""
    traits: frozenset[str]
    """What of TRAITS the run has to do with."""
    says: str = ""
    """The kind in words."""
    evidence: tuple[str, ...] = ()
    """What speaks for the kind."""

    @property
    def base(self) -> str:
        """The widest kind that it is part of: language, control, diffusion; empty where nothing tells."""
        wide = "language" if self.traits & SPEAKING else "control" if "control" in self.traits else ""
        return kinds()[self.kind]["of"] if self.kind in kinds() else wide

    @property
    def by_reward(self) -> bool:
        """Whether what is sampled earns a reward that is to grow."""
        return self.kind not in WITHOUT_REWARD


@lru_cache(maxsize=16)
def task(run: Run) -> Task:
    """What a run trains."""
    known = {name: found for name, row in kinds().items() if (found := list(_speaks(run, row)))}
    weights = {name: sum(weight for weight, _ in found) for name, found in known.items()}
    kind = max(weights, key=lambda name: (weights[name] >= ENOUGH, not kinds()[name].get("last"), weights[name]), default="")
    told = weights.get(kind, 0.0) >= ENOUGH
    traits = _traits(run, kinds()[kind]["of"] if told else "")
    if told:
        row, evidence = kinds()[kind], tuple(says for _, says in known[kind])
        if "either" not in row or not all(re.match(row["shared"], says) for says in evidence):
            return Task(kind, traits, row["says"], evidence)
        scores, says = _of_pairs(run)
        kind = kind if scores is False else row["neighbour"] if scores else kind
        return Task(kind, traits, row["either"] if scores is None else kinds()[kind]["says"], (*evidence, says) if says else evidence)
    return Task(next((base for base in ("language", "control") if base in traits), ""), traits)


def _of_pairs(run: Run) -> tuple[bool | None, str]:
    """Whether both answers of a pair begin at one level other than 0, as scores do; a policy that is its own reference begins at 0."""
    both = [c for c in run.curves.values() if _PAIRED.search(words(c.raw)) and c.varies]
    if len(both) != 2:
        return None, ""
    one, two = (float(c.numbers[0]) for c in both)
    says, span = f"{both[0].raw} and {both[1].raw} begin at", max(float(np.ptp(c.numbers)) for c in both)
    if max(abs(one), abs(two)) <= START * span:
        return False, f"{says} 0, as where a policy is its own reference"
    if abs(one + two) > 2 * TOGETHER * abs(one - two) and abs(one + two) > 4 * START * span:
        return True, f"{says} {wording.value(one)} and {wording.value(two)}: scores of one scale, no ratios to a reference"
    return None, ""


def kinds() -> Mapping[str, Mapping[str, Any]]:
    """Every kind by its name."""
    return table(__file__, "task.toml")


def _speaks(run: Run, row: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """What speaks for a kind: a weight, and the words for it; nothing where a metric denies it."""
    own = re.compile(row["names"])
    spoken = {name: words(curve.raw) for name, curve in run.curves.items()}
    named = [run.curves[name] for name, text in spoken.items() if own.search(text)]
    denied = [name for pattern in row.get("unless", ()) for name in _matching(run, pattern)]
    if row.get("last") and _SPOKEN["control"].search(" ".join(words(str(key)) for key in run.config)):
        return
    if denied or any(re.search(row.get("denied", r"$^"), text) for text in spoken.values()):
        return
    if run.step_unit == row.get("counts"):
        yield ENOUGH, f"what is counted are {run.step_unit}"
    ours = [name for pattern in row.get("metrics", ()) for name in _matching(run, pattern)]
    yield from ((ENOUGH, f"{run.curves[name].raw} is logged") for name in ours[:1])
    yield from ((row.get("each", 1.0), f"{curve.raw} is logged") for curve in named[:3])
    together = [next((n for n, text in spoken.items() if re.search(word, text)), "") for word in row.get("together", ())]
    if together and all(together):
        yield SAID, f"{' and '.join(run.curves[n].raw for n in together)} are logged"
    algorithm = re.compile(rf"(?i)(?<![a-z0-9])(?:{row['config']})(?![a-z0-9])")
    models = re.compile(rf"(?i)(?<![a-z0-9])(?:{row.get('models', '(?!)')})(?![a-z0-9])")
    for key, value in run.config.items():
        asked = algorithm if _ALGORITHM.search(str(key).lower()) else models if "model" in str(key).lower() else None
        if asked and isinstance(value, str) and asked.search(value[-80:]):
            yield SAID, f"{key} = {value}"[:80]


def _matching(run: Run, pattern: str) -> Iterable[str]:
    return (n for n in run.curves if n.startswith(pattern[:-1])) if pattern.endswith("*") else ((pattern,) if pattern in run.curves else ())


def _traits(run: Run, base: str) -> frozenset[str]:
    """What the metrics show a run to have to do with, in words where they do not; a run of language is not also one of control."""
    found = {trait for trait, names in TRAITS.items() if any(name in run.curves for name in names)} | ({base} if base else set())
    found |= {dialects()[name].trains for name in run.frameworks if name in dialects()} - {""}
    if len(run.rollouts):
        found.add("language")
    if not found & {*SPEAKING, "control", "diffusion"}:
        found |= _told(run)
    other = "language" if base == "control" else "control" if found & SPEAKING else ""
    return frozenset(found - {other})


def _told(run: Run) -> set[str]:
    """The kind that the words tell, where no metric does: language by any of its words, else control by its words or its steps."""
    names = [curve.raw for curve in run.curves.values()]
    text = " ".join(words(name) for name in (*names, *map(str, run.config)))
    if _SPOKEN["language"].search(text):
        return {"language"}
    places = [*names, *(curve.source.split(", ", 1)[0] for curve in run.curves.values())]
    counted = run.step_unit in ("env steps", "episodes")
    return {"control"} if counted or _SPOKEN["control"].search(text) or any(map(_SPOKEN["environment"].search, places)) else set()


def spoken_of(text: str) -> str:
    """The half of the field that somebody's words speak of: ``language``, else ``control``; empty where they speak of neither."""
    return next((half for half in ("language", "control") if _SPOKEN[f"says_{half}"].search(text.lower())), "")
