"""One number per quantity: what terminal, page, Markdown, tools and JSON say of one metric, statistic and step is spelled one way.

A plain number is one that was logged; "about" marks a level over several points, and no such level is compared with a logged value.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from evals.contradictions import contradictions
from rl_advisor import tools
from rl_advisor.answers.brief import brief, briefs, characters
from rl_advisor.answers.reports import html, markdown
from rl_advisor.answers.terminal import Look, answer_page
from rl_advisor.api import assess
from rl_advisor.cli import printing
from rl_advisor.curves.task import task
from rl_advisor.finding import Assessment
from rl_advisor.reading import read_run
from rl_advisor.run import Run

from test_voice import BANNED

ROOT = Path(__file__).parents[1]
CORPORA = [
    p for kind in ("grpo", "classic", "second", "unseen") for p in sorted((ROOT / "evals" / "corpus" / kind / "runs").iterdir())[::5]
]
RUNS = [ROOT / "examples" / "grpo-run", *sorted((ROOT / "tests" / "data" / "golden").glob("*/*")), *CORPORA]
PAGES = set(RUNS[::4])
N = r"(-?\d[\d.]*(?:e-?\d+)?(?: %)?)(?![\d%])"
UNIT = r"(?: (?:nats|tokens|s|tokens/s|GiB))?"
SAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"(?: went)? from {N} to {N}(?! at its best| at step| half way)", ("first", "last")),
    (rf"(?:: )?{N} → {N}{UNIT}", ("first", "last")),
    (rf" rose from {N} to {N} at its best", ("first", "best")),
    (rf" began at {N} and ends at {N}", ("first", "last")),
    (rf" ends at {N}, ", ("last",)),
    (rf":?(?:(?!\. )[^;:\n]){{0,80}}?\bbest (?:level \(?)?(?:best )?(?:was )?{N} at step (\d+)", ("best", "best step")),
    (rf" peaked at {N} \(step (\d+)\) and declined to {N}", ("best", "best step", "last")),
    (rf" fell from {N} \(step (\d+)\) to {N}", ("best", "best step", "last")),
    (rf" {N}, the best logged", ("best",)),
    (rf" [▁-█ ]+ {N}", ("last",)),
)
"""How a sentence goes on behind the name of a metric, and which statistics its numbers are."""


@cache
def judged(path: Path) -> tuple[Run, Assessment, dict[str, Any]]:
    """A run, its assessment and the answer of ``assess_run``, judged once."""
    run = read_run(path)
    signed = assess(run)
    return run, signed, tools.judgement_of(run, signed)


def answer_of(path: Path) -> dict[str, Any]:
    """The answer of ``assess_run``."""
    return judged(path)[2]


def texts(value: Any) -> Iterator[str]:
    """Every sentence of an answer."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(part)


def visible(page: str) -> str:
    """What an HTML page shows, without pictures and scripts."""
    text = re.sub(r"<(svg|script|style)\b.*?</\1>", "", page[page.index("<main") : page.index("</main>")], flags=re.DOTALL)
    # A curve's name and what is said of it stand in two elements; anything else ends a sentence.
    text = re.sub(r"</h3><p>|</?(?:b|code|span)\b[^>]*>", " ", text)
    return "\n".join(" ".join(unescape(t).split()) for t in re.split(r"<[^>]+>", text))


def doors(path: Path) -> dict[str, str]:
    """What each door says of a run, a sentence a line where the door has lines; pages, which cost most, of every fourth run."""
    run, signed, answer = judged(path)
    said = {
        "terminal": "\n".join(answer_page(answer, Look(4000))),
        "whole": re.sub(r"\n {3,}", " ", printing.text("assess", answer, whole=True)),
        "brief": "\n".join(texts(brief("assess", answer))),
        "json": "\n".join(texts(answer)),
    }
    if path in PAGES:
        said["page"] = visible(html.render(run, signed))
        said["markdown"] = markdown.render(run, signed).replace("\\", "").replace("**", "")
    return said


def told(text: str, names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Metric, statistic and number wherever a text says them; a name that another one holds is not taken for it."""
    label = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    for pattern, statistics in SAYS:
        for found in re.finditer(rf"(?<![\w/.-])({label})(?: \([\w/ ]+\))?{pattern}", text):
            yield from ((found[1], s, n.rstrip(".")) for s, n in zip(statistics, found.groups()[1:], strict=True))


@pytest.mark.parametrize("run", RUNS, ids=lambda p: p.name)
def test_one_number_per_quantity_at_every_door(run) -> None:
    """Every value printed of one metric and statistic is the same value, in the same spelling, wherever it is printed."""
    names = [q["label"] for q in answer_of(run)["story"]["curves"]]
    names += [c.raw or c.name for c in judged(run)[0].curves.values() if 0 < len(c.raw) <= 60]
    found: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    said = doors(run)
    for door, text in said.items():
        for name, statistic, number in told(text, list(dict.fromkeys(names))):
            found[name, statistic][number].add(door)
    assert {quantity: dict(numbers) for quantity, numbers in found.items() if len(numbers) > 1} == {}
    outcome = [q for q in answer_of(run)["story"]["curves"][:1] if len(set(q["blocks"])) > 1]
    assert all({"terminal", "page", "markdown"} & said.keys() <= set().union(*found[q["label"], "last"].values()) for q in outcome)


@pytest.mark.parametrize("run", CORPORA, ids=lambda p: p.name)
def test_every_sentence_keeps_the_voice_and_the_brief_its_length(run) -> None:
    """No sentence of an answer has a habit that docs/dev/voice.md bans or denies another, and a brief is within its characters."""
    read, signed, answer = judged(run)
    assert contradictions(read, signed) == []
    assert [s for s in texts(answer) if BANNED.search(s)] == []
    assert characters(brief("assess", answer)) <= briefs()["assess"]["longest"]


OF_KIND = {
    "control": r"\b(prompts?|perplexity|deepspeed|vllm|chat template|gibberish|completions?|tokens?|responses?)\b",
    "language": r"\b(untrained policy|replay buffer|epsilon|simulator|observations?|env steps)\b",
}
"""Words that belong to the other kind of training."""
SENTENCES = ("summary", "why", "next_experiment", "evidence", "could_not_see", "ruled_out", "at_odds")


def foreign_words(run: Run, signed: Assessment) -> set[str]:
    """Words of another kind in an answer, but those that the run logged itself; of a run whose kind nothing tells, those of every kind."""
    logged = " ".join(curve.raw for curve in run.curves.values()).lower()
    text = json.dumps({key: value for key, value in signed.model_dump(by_alias=True).items() if key in SENTENCES})
    words = "|".join(OF_KIND[base] for base in (OF_KIND.keys() & task(run).traits or OF_KIND))
    return {found[0] for found in re.finditer(words, text, re.IGNORECASE) if found[0].lower() not in logged}


@pytest.mark.parametrize("run", CORPORA, ids=lambda p: p.name)
def test_nothing_is_said_of_a_kind_that_is_not_there(run) -> None:
    """No answer about control speaks of prompts, none about language of replay buffers, and where the kind is unknown none of either."""
    assert foreign_words(*judged(run)[:2]) == set()


def test_words_of_the_other_kind_are_seen() -> None:
    """The same answer with a word of the other kind in it is not clean."""
    run, signed, _ = judged(next(path for path in CORPORA if path.name.startswith("classic")))
    assert foreign_words(run, signed.model_copy(update={"why": "its prompts are too hard"})) == {"prompts"}


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("eval_acc from 0.93 to 0, best 0.94 at step 120", {("first", "0.93"), ("last", "0"), ("best", "0.94"), ("best step", "120")}),
        ("eval_acc: 93 % → 1 % (log axis)", {("first", "93 %"), ("last", "1 %")}),
        ("eval_acc from about 0.93 to 0.1", set()),
        ("train/eval_acc from 0.93 to 0.1", set()),
        ("eval_acc rose over its last third, from about 0.1 to 0.2", set()),
        ("eval_acc jumps from 2e-4 to 0.008 at step 152", set()),
        ("eval_acc fell from 0.94 (step 120) to 0 and stayed down", {("best", "0.94"), ("best step", "120"), ("last", "0")}),
        ("eval_acc ▁▂▇█ 0.94", {("last", "0.94")}),
    ],
)
def test_what_counts_as_saying_a_quantity(said, wanted) -> None:
    """The patterns find what a sentence says, and leave levels and other metrics alone."""
    assert {(s, n) for _, s, n in told(said, ["eval_acc"])} == wanted
