"""How often the formula of a reward is named: made rewards of growing complexity, half of them held out, and honest ones as near-misses.

``python benchmarks/reward_formulas.py`` prints for each the terms that were found and whether they are the true ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pandas as pd

Facts = dict[str, Any]
_NOUNS = ("river", "engine", "garden", "letter", "window", "teacher", "market", "signal", "forest", "bridge")
_VERBS = ("follows", "crosses", "repairs", "measures", "describes", "forgets", "paints", "carries")


def _response(rng: random.Random) -> tuple[str, Facts]:
    """A response of random habits, and its true facts."""
    told = " ".join(f"the {rng.choice(_NOUNS)} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)}." for _ in range(rng.randrange(1, 40)))
    facts: Facts = {"right": rng.random() < 0.4, "searches": rng.randrange(4), "reads": rng.randrange(3), "marked": rng.random() < 0.6}
    facts |= {"thanks": rng.randrange(4), "marks": rng.randrange(4), "asks": rng.randrange(3), "items": rng.randrange(6)}
    facts |= {"therefore": rng.randrange(6), "done": rng.random() < 0.5, "heads": rng.randrange(3)}
    calls = "".join(
        f'<tool_call>{{"name": "search", "arguments": {{"q": "{rng.choice(_NOUNS)}"}}}}</tool_call>\n' for k in range(facts["searches"])
    )
    calls += "".join(
        f'<tool_call>{{"name": "read", "arguments": {{"p": "{rng.choice(_NOUNS)}"}}}}</tool_call>\n' for k in range(facts["reads"])
    )
    text = calls + told + " Thank you." * facts["thanks"] + " So!" * facts["marks"] + " Why?" * facts["asks"]
    text += " And therefore it goes on" * facts["therefore"] + "\n" + "- a point\n" * facts["items"] + "# A part\n" * facts["heads"]
    number = 17 if facts["right"] else rng.randrange(20, 90)
    text += f"<answer>{number}</answer>" if facts["marked"] else f"It is {number}."
    text += "\nfinished" if facts["done"] else ""
    return text, facts | {"words": len(text.split())}


MADE: dict[str, tuple[Callable[[Facts], float], tuple[set[str], ...]]] = {
    "a hundredth a word": (lambda f: 0.01 * f["words"], ({"words", "characters", "tokens"},)),
    "a fifth a search and 0.4 above 80 words": (
        lambda f: 0.2 * f["searches"] + 0.4 * (f["words"] > 80),
        ({"calls of search"}, {"words", "characters", "tokens"}),
    ),
    "0.3 a call and one for a closing word": (
        lambda f: 0.3 * (f["searches"] + f["reads"]) + 1.0 * f["done"],
        ({"tool calls"}, {'times "finished"', "a claim to be done"}),
    ),
    "a tenth a polite phrase": (lambda f: 0.1 * f["thanks"], ({"thanks and pleases", 'times "thank"', 'times "you"'},)),
    "being right, less length": (lambda f: f["right"] - 0.004 * f["words"], ({"being right"}, {"words", "characters", "tokens"})),
    "held: half for the form and 0.05 a point": (
        lambda f: 0.5 * f["marked"] + 0.05 * f["items"],
        ({"a filled answer"}, {"list items", 'times "point"'}),
    ),
    "held: length up to 120 words": (lambda f: min(f["words"], 120) / 120, ({"words", "characters", "tokens"},)),
    "held: therefore, at most three": (lambda f: 0.3 * min(f["therefore"], 3), ({'times "therefore"', "step marks", 'times "goes"'},)),
    "held: cries and reads, less questions": (
        lambda f: 0.25 * f["marks"] + 0.5 * f["reads"] - 0.2 * f["asks"],
        ({"exclamation marks"}, {"calls of read"}, {"question marks", 'times "why"'}),
    ),
    "held: being right in form, and headings": (
        lambda f: float(f["right"] and f["marked"]) + 0.1 * f["heads"],
        ({"being right"}, {"a filled answer"}, {"headings", 'times "part"'}),
    ),
}
"""Name -> the reward, and for each true term the measures that are as good as it."""
HONEST: dict[str, Callable[[Facts, random.Random], float]] = {
    "being right, unknown": lambda f, _: float(f["right"]),
    "being right, unknown, with noise": lambda f, rng: f["right"] + rng.gauss(0, 0.3),
    "luck": lambda _, rng: rng.random(),
    "a judge that likes length a little": lambda f, rng: f["right"] + 0.002 * f["words"] + rng.gauss(0, 0.3),
}


def samples(reward: Callable[[Facts, random.Random], float], seed: int, known: bool, prompts: int = 48, group: int = 8) -> pd.DataFrame:
    """Responses to prompts with their rewards; with ``known`` a column says which are right, else answers differ from prompt to prompt."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    rows = []
    for p in range(prompts):
        for _ in range(group):
            text, facts = _response(rng)
            own = text if known else text.replace("17", str(100 + 7 * p))
            row = {"step": float(p // 12), "prompt": f"question {p}", "group": str(p), "response": own, "reward": float(reward(facts, rng))}
            rows.append(row | ({"correct": float(facts["right"])} if known else {}))
    return pd.DataFrame(rows)


def named(name: str, seed: int = 0) -> tuple[bool, str]:
    """Whether the formula that is found has every true term and at most one other, and what was found."""
    from rl_advisor.run import Run
    from rl_advisor.samples.reward_formula import paid_for

    reward, true = MADE[name]
    found = paid_for(Run(rollouts=samples(lambda f, _: reward(f), seed, known=True)))
    terms = [t["what"] for t in found.get("terms", [])]
    has = all(any(any(measure in term for measure in same) for term in terms) for same in true)
    return has and found.get("holds", False) and len(terms) <= len(true) + 1, f"{found.get('r2', 0):.3f} {terms}"


def invented(name: str, seed: int = 0) -> str:
    """The formula that is said of an honest reward; '' where none is."""
    from rl_advisor.run import Run
    from rl_advisor.samples.reward_formula import paid_for

    found = paid_for(Run(rollouts=samples(HONEST[name], seed, known=False)))
    return ", ".join(t["what"] for t in found.get("terms", []))


def main() -> None:
    """Print the figures."""
    for name in MADE:
        print(name, *named(name))
    for seed in range(5):
        print(seed, {name: invented(name, seed) for name in HONEST})


if __name__ == "__main__":
    main()
