"""The page and the README's block about accuracy, made of result files alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.lab.accuracy import REFERENCE
from evals.lab.table import PREFIXES, WHOLE_RUN, by_price, flips, scores, text_table

GROUND = Path(__file__).parents[1] / "results" / "proving-ground.md"
"""What ``make proving-ground`` found."""
STRANGERS = GROUND.with_name("strangers.md")
"""What ``python -m evals.world.second_half`` found."""
BEGIN, END = "<!-- accuracy -->", "<!-- /accuracy -->"
_LIMITS = """\
- Where rules were written while looking at the runs, the figures show fit, not accuracy. Such corpora are marked *development*.
- The runs of the corpora are small: language models of two million parameters on toy tasks, and classic control.
- One fault a run, put in on purpose, most of them from the start. Faults of real life come in pairs and half.
- The labels are one reader's or a rule's. Where the evidence does not decide, several answers are admitted, which makes hits easier.
  How far two blind readers agree, and what became of the labels on which they do not: [agreement.md](agreement.md).
- Most families are one or two runs; brackets are 95 percent intervals over families, and most of them are wide. Where all hit, the
  bootstrap gives an interval without width, which does not mean certainty.
- The built-in advisor names only checkpoints that exist on disk; the baseline rules may name any step that was evaluated.
- Held-out scores are logged in nearly all runs. The arm without them shows what is lost where nobody evaluates.
- Nothing here says how a model does with our tools. One model without them has read the runs: [agreement.md](agreement.md).
- Power by dose and by steps since the onset, false alarms by habit and reliability need runs whose truth is known, by the thousand:
  [proving-ground.md](proving-ground.md).
"""


def page(results: Sequence[Mapping[str, Any]], first: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page in Markdown; ``first`` holds the first looks by corpus."""
    head = "# How often the advisor is right\n\nMade by `make eval` from `evals/results/`; nothing is typed by hand.\n\n"
    chapters = "".join(_chapter(r, first.get(r["corpus"])) for r in results)
    limits = "\n## What the numbers do not show\n\n" + _LIMITS + _LEGEND + "\n"
    return head + STRANGERS.read_text(encoding="utf-8") + limits + GROUND.read_text(encoding="utf-8") + chapters


_LEGEND = """
## Reading the tables

`verdict_hit`, `link_hit`: share of admitted answers, links only where something is broken. `healthy_called_broken`: false alarms
per sound run. `checkpoint_regret`: loss against the best checkpoint as a share of the score's range. `onset_hit`: within 5 percent
of the run; `onset_order`: pairs of runs whose onsets are told in the right order. `regret_area`: regret of going on or stopping, over
all prices of compute. Lower is better for regrets, `brier` and false alarms. Prefixes are the first 25, 50 and 75 percent of each run.
"""


def _chapter(result: Mapping[str, Any], first: Mapping[str, Any] | None) -> str:
    head = f"\n## {_title(result)}\n\n{result['warning']}\n\nLeaks found in what advisors saw: {len(result['leaks'])}.\n"
    seen = "All runs" if first is None else "The same runs by the code of today"
    return head + (_first(first) if first else "") + _part(seen, result["all"]) + _robust(result["robustness"])


def _first(first: Mapping[str, Any]) -> str:
    """What the first look found; it is never taken again."""
    what = f"taken once, on {first['date']} (version {first['version']}, code {first['code']}), before any rule could follow it"
    return _part(f"The first look, {what}", first["all"], full=False)


def _title(result: Mapping[str, Any]) -> str:
    return f"{result['title']}: {result['role']}"


def _part(name: str, part: Mapping[str, Any], *, full: bool = True) -> str:
    arms = part["arms"]
    sections = [
        f"\n### {name}: {part['runs']} runs of {part['families']} families, {part['healthy']} of them sound\n",
        "Whole runs\n\n" + scores({arm: s["whole"] for arm, s in arms.items()}, WHOLE_RUN),
        "Prefixes\n\n" + scores({arm: s["pooled"] for arm, s in arms.items()}, PREFIXES),
    ]
    if full:
        sections += [
            "Regret by the price of a whole budget\n\n" + by_price({arm: s["pooled"]["regret_by_price"] for arm, s in arms.items()}),
            "Minus the built-in advisor, on the same runs\n\n" + _against(arms),
            "The built-in advisor by verdict\n\n" + _by_class(arms[REFERENCE]["by_class"]),
            "What it said instead\n\n" + _confusion(arms[REFERENCE]["confusion"]),
        ]
    return "\n".join(f"{s}\n" for s in sections) + _cost(arms)


def _against(arms: Mapping[str, Any]) -> str:
    others = {name: s["against_builtin"] for name, s in arms.items() if "against_builtin" in s}
    columns = list(next(iter(others.values()), {}))
    rows = [[name, *(_span(found[c]) for c in columns)] for name, found in others.items()]
    return text_table(("arm", *columns), rows)


def _span(found: Sequence[float | None]) -> str:
    value, low, high = found
    return "-" if value is None or low is None or high is None else f"{value:+.3f} [{low:+.2f}, {high:+.2f}]"


def _by_class(classes: Mapping[str, Mapping[str, float]]) -> str:
    return text_table(("verdict", "true of", "said of", "rightly"), [[c, *(f"{v:g}" for v in n.values())] for c, n in classes.items()])


def _confusion(tables: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    rows = [
        [what, truth.replace("|", " or "), answer, str(n)]
        for what, table in tables.items()
        for truth, said in table.items()
        for answer, n in said.items()
        if answer != truth
    ]
    return text_table(("asked", "truth", "answer", "runs"), rows) if rows else "Nothing: every answer was admitted."


def _cost(arms: Mapping[str, Any]) -> str:
    rows = [[name, *(f"{s['cost'].get(c, float('nan')):g}" for c in ("tokens", "money"))] for name, s in arms.items() if s["cost"]]
    return "\nCost of an answer\n\n" + text_table(("arm", "tokens", "US dollars"), rows) + "\n" if rows else ""


def _robust(changes: Mapping[str, Any]) -> str:
    if not changes:
        return ""
    return (
        "\n### How often harmless changes flip the answer\n\n" + flips({"The built-in advisor on whole runs": changes}).rstrip("\n") + "\n"
    )


def readme_block() -> str:
    """The README's line, without its markers: strangers' runs, of whose repositories the weights saw nothing."""
    told = " ".join(STRANGERS.read_text(encoding="utf-8").split("\n\n")[1].split())
    return f"{told} All figures, and what they do not show: [docs/dev/accuracy.md](docs/dev/accuracy.md)."


def fill(text: str, block: str) -> str:
    """The text with the block between its two markers.

    Raises:
        ValueError: a marker is missing.

    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the text lacks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{block}\n{END}{after}"
