"""The page keeps its promises on runs of many frameworks: short before its folds, a curve on top, one number a quantity, honest axes."""

import re
from functools import cache
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from rl_advisor.answers.document.curves import logarithmic
from rl_advisor.answers.reports import html
from rl_advisor.answers.reports.html.pictures import ticks
from rl_advisor.answers.story.quantities import outcome_quantities
from rl_advisor.api import assess
from rl_advisor.reading import read_run
from rl_advisor.run import Curve, Run

ROOT = Path(__file__).parents[1]
RUNS = [ROOT / "examples" / "grpo-run", *sorted((ROOT / "tests" / "data" / "golden").glob("*/*"))]
RUNS += [ROOT / "evals" / "corpus" / "grpo" / "runs" / name for name in ("grpo-04", "grpo-15")]  # the longest pages there are
MOST_WORDS = 900
FOLD = re.compile(r"<details[^>]*><summary>([^<]*)</summary>(?:(?!<details).)*?</details>", re.DOTALL)


@cache
def opened(path: Path) -> tuple[Run, str]:
    """A run, and what its page shows before anything is unfolded."""
    run = read_run(path)
    page = html.render(run, assess(run))
    body = page[page.index("<main") : page.index("</main>")]
    while FOLD.search(body):
        body = FOLD.sub(r"\1", body)
    return run, body


def lines(body: str) -> list[str]:
    """The texts of a page, one an element."""
    return [unescape(t).strip() for t in re.split(r"<[^>]+>", re.sub(r"<svg.*?</svg>", "", body, flags=re.DOTALL)) if t.strip()]


@pytest.mark.parametrize("path", RUNS, ids=lambda p: p.name)
def test_few_words_before_the_folds_and_a_curve_on_top(path) -> None:
    """Under 900 words, and the outcome drawn before the first heading below the verdict, wherever one is logged."""
    run, body = opened(path)
    assert sum(len(line.split()) for line in lines(body)) < MOST_WORDS
    drawn = [q for q in outcome_quantities(run) if q.points > 1]
    assert ('<figure class="hero' in body.partition("<h2")[0]) == bool(drawn)


@pytest.mark.parametrize("path", RUNS, ids=lambda p: p.name)
def test_one_best_per_quantity(path) -> None:
    """Wherever the page names the best of an outcome, it is the same level, spelled the same."""
    run, body = opened(path)
    for q in outcome_quantities(run):
        told = {
            m[1].rstrip(".,")
            for line in lines(body)
            for m in re.finditer(rf"{re.escape(q.label)} from [^;]*?best (?:level )?([\d.e+-]+)", line)
        }
        assert told <= {q.spelled(q.best)} if q.best is not None else not told


STEPS = np.arange(100.0)
FALLING = np.geomspace(10, 0.01, 100)


@pytest.mark.parametrize(
    ("name", "values", "log"),
    [
        ("policy/grad_norm", FALLING, True),
        ("policy/grad_norm", np.where(STEPS == 0, 0, FALLING), True),
        ("policy/grad_norm", np.where(STEPS > 60, 0, FALLING), False),  # it dies to zero: a floor would hide that
        ("policy/grad_norm", np.linspace(1, 2, 100), False),
        ("value/loss", FALLING - 1, False),
        ("reward/mean", FALLING, False),
        ("ratio/clip_fraction", FALLING / 10, False),
    ],
)
def test_decades_get_a_logarithmic_axis(name, values, log) -> None:
    """Positive values over decades; never scores and shares, and never where zeros say something."""
    assert logarithmic(Curve(name, name, "f", STEPS, values, mapped=True)) is log


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, 2_500_000, [0, 500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000]),
        (0, 300, [0, 100, 200, 300]),
        (1, 259, [100, 200]),
        (12, 30720, [10000, 20000, 30000]),
        (0, 3, [0, 1, 2, 3]),
        (5, 6, [5, 6]),
    ],
)
def test_ticks_are_round(low, high, wanted) -> None:
    """Steps on the axis are ones that people would write."""
    assert ticks(low, high) == wanted


def test_a_run_of_which_nothing_is_understood_still_shows_what_moved() -> None:
    """Curves without a meaning are drawn where there are no others."""
    curves = {n: Curve(n, n, "f", STEPS, np.sin(STEPS / k), mapped=False) for k, n in ((9, "alpha"), (7, "beta"))}
    run = Run(name="strange", curves=curves)
    page = html.render(run, assess(run))
    assert '<figure class="hero' in page and 'id="curve-1"' in page


def test_the_picture_marks_the_break_and_does_not_smooth_across_it() -> None:
    """The break is a line of its own colour where the run broke, and before it the smoothed line keeps its height."""
    import io

    from PIL import Image
    from rl_advisor.answers.plot import HEIGHT, LEFT, MARKS, RIGHT, WIDTH, marked, picture

    run = read_run(Path(__file__).parents[1] / "examples" / "grpo-run")
    assert marked(run) == {"break": 152.0}
    image = np.array(Image.open(io.BytesIO(picture(run, ["eval_accuracy"]))).convert("RGB")).astype(int)
    wanted = np.array([int(MARKS["break"][i : i + 2], 16) for i in (1, 3, 5)])
    at = np.flatnonzero((np.abs(image - wanted).sum(axis=2) < 90).sum(axis=0) > HEIGHT / 6)
    assert abs(at.mean() - (LEFT + (WIDTH - LEFT - RIGHT) * 152 / 300) / 2) < 3
    assert image.shape[1] * 2 == WIDTH
    blue = np.argwhere((image[:, :, 2] - image[:, :, 0] > 90) & (image[:, :, 0] < 110))
    before = blue[(blue[:, 1] < at.min() - 2) & (blue[:, 1] > at.min() - 40)]
    assert before[:, 0].max() < HEIGHT / 4
