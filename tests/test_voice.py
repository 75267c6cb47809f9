"""The voice of docs/dev/voice.md, and one value per quantity, in what the doors say about committed runs of several frameworks."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rl_advisor import tools
from rl_advisor.answers.brief import brief, briefs, characters
from rl_advisor.answers.reports import html, markdown
from rl_advisor.answers.terminal import Look, answer_page
from rl_advisor.output.wording import chance, pair, percent, told_once, value

ROOT = Path(__file__).parents[1]
RUNS = [ROOT / "examples" / "grpo-run", *sorted((ROOT / "tests" / "data" / "golden").glob("*/*"))]
BANNED = re.compile(
    r"speaks for itself|had its say|nine tenths|\d times \(between|Looked for and not found|Could not see: unclear|there or not"
    r"|they part\b|does not share|borders of epochs|\d percent\b|foreseen|one deviation|is not understood|Too few points to tell"
    r"|comes before it; most likely|one point is within|rank correlation with the step|\(smoothed\)|times its range \(|has had its"
    r"|Groups without spread|training episodes are others|\b1 (?:evaluations|points|curves|restarts)\b"
)


@cache
def said(run: Path) -> tuple[dict, str, str, str]:
    """The answer, the terminal's page, the Markdown and the story beside the page's picture."""
    answer = tools.assess_run(run)
    whole = tools.read(run)
    signed = tools.advisor_named("builtin").assess(whole)
    page = html.render(whole, signed)
    head = page[page.index('<dl class="story">') : page.index("</header>")]
    return answer, "\n".join(answer_page(answer, Look(80))), markdown.render(whole, signed).replace("\\", ""), re.sub(r"<[^>]+>", " ", head)


@pytest.mark.parametrize("run", RUNS, ids=lambda p: p.name)
def test_no_banned_habit_and_few_lines(run) -> None:
    """At most twenty lines of eighty columns and 160 words, the action by line six, no habit of docs/dev/voice.md."""
    answer, page, _, head = said(run)
    lines = page.splitlines()
    assert len(lines) <= 20 and len(page.split()) <= 160
    assert any("Do now" in line for line in lines[:6])
    assert not BANNED.search("\n".join((page, head, answer["summary"])))


@pytest.mark.parametrize("run", RUNS, ids=lambda p: p.name)
def test_one_value_per_quantity(run) -> None:
    """What a metric came from, went to and was at best is the same at every door."""
    answer, page, text, head = said(run)
    for quantity in answer["story"]["outcome"]:
        short = quantity.split(", best")[0]
        flat = " ".join(page.split())
        assert short in flat or " ..." in flat
        assert short in text and short in " ".join(head.split())


@pytest.mark.parametrize("run", RUNS, ids=lambda p: p.name)
def test_a_brief_keeps_within_its_characters(run) -> None:
    """What a model gets of an assessment is short and holds verdict, call and what to do."""
    short = brief("assess", said(run)[0])
    assert characters(short) <= briefs()["assess"]["longest"]
    assert short["verdict"] and short["call"] and short["do"]


@pytest.mark.parametrize(
    ("spelled", "wanted"),
    [
        (percent(0.977), "98 %"),
        (percent(0.003), "under 1 %"),
        (percent(0.999), "over 99 %"),
        (chance(0.33, "low"), "35 %"),
        (chance(0.33), "33 %"),
        (chance(0.0), "1 %"),
        (value(0.0002, "rate"), "2e-4"),
        (value(0.9423), "0.94"),
        (value(471.3), "471"),
        (value(12.0, "steps"), "12"),
        (value(float(0)), "0"),
        (" ".join(pair(0.941, 0.938)), "0.941 0.938"),
    ],
)
def test_numbers_are_spelled_as_people_spell_them(spelled, wanted) -> None:
    """Percent, two digits, whole steps; two values that differ are told apart."""
    assert spelled == wanted


def test_a_clause_that_begins_another_is_not_said_again() -> None:
    """What a longer clause already says is said once."""
    clauses = [("reward has only 3 points, which scatter by 0.19", "reward"), ("reward has only 3 points", "reward"), ("kl rose", "kl")]
    assert told_once(clauses) == "reward has only 3 points, which scatter by 0.19; kl rose"


def test_no_best_is_told_of_what_never_moved() -> None:
    """Where nothing is learned the highest point is luck: neither the score nor the checkpoint names it."""
    from rl_advisor.api import assess
    from rl_advisor.run import Curve, Run

    steps = np.arange(200.0)
    flat = np.random.default_rng(0).normal(1.0, 0.3, 200)
    told = assess(Run(curves={"reward/mean": Curve("reward/mean", "reward", "a", steps, flat)}))
    assert told.verdict == "not_learning"
    assert ", best" not in str(told) and "was best" not in str(told)
