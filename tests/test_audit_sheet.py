"""The blind sheet: drawn evenly, harmless in a spreadsheet, never over a foreign file; its scores against the reward."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor.answers.audit_sheet import HEAD, SAMPLES, audit_sheet
from rl_advisor.answers.reports import html, markdown
from rl_advisor.answers.reports.html.pictures import HIGH, bars
from rl_advisor.cli.commands import main
from rl_advisor.detectors import patterns
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.run import Run
from rl_advisor.tools.advisors.builtin import assess

from rollout_runs import made, sentence

RUN = "tests/data/corpus/runs/run-03"


def graded() -> Run:
    """A run whose rewards rise with the steps and have two parts, of which one is noise."""
    base = made(lambda p, done, rng: (f"{rng.random():.6f} {sentence(p, rng)}", float(done + rng.random())))
    noise = np.random.default_rng(5).random(len(base.rollouts))
    return Run(rollouts=base.rollouts.assign(**{"reward/task": base.rollouts["reward"], "reward/style": noise}))


def cells_of(path: Path) -> list[list[str]]:
    """The rows of a sheet."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def filled(path: Path, score: Callable[[str], object], first: int = SAMPLES) -> None:
    """Scores the first rows of a sheet by what their answer earned."""
    head, *rows = cells_of(path)
    rows = [[key, str(score(answer)) if i < first else "", prompt, answer] for i, (key, _, prompt, answer) in enumerate(rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def rewards(run: Run) -> dict[str, float]:
    """The reward of each answer."""
    return dict(zip(run.rollouts["response"], run.rollouts["reward"], strict=True))


@pytest.mark.parametrize(("sign", "means"), [(1, "it agrees"), (-1, "it runs against you")])
def test_agreement_and_its_opposite(tmp_path: Path, sign: int, means: str) -> None:
    """A person who orders as the reward does, and one who orders the other way round; the noisy part is told from neither."""
    run, sheet = graded(), tmp_path / "sheet.csv"
    written = audit_sheet(run, sheet)["written"]
    assert 0.75 * SAMPLES <= written <= SAMPLES
    text, earned = sheet.read_text(), rewards(run)
    assert "reward" not in text
    drawn = run.rollouts[run.rollouts["response"].isin([row[3] for row in cells_of(sheet)])]
    assert len(drawn) == written
    assert drawn["step"].nunique() > 4
    assert (
        drawn["reward"].min()
        < np.quantile(run.rollouts["reward"], 0.25)
        < np.quantile(run.rollouts["reward"], 0.75)
        < drawn["reward"].max()
    )
    filled(sheet, lambda answer: sign * earned[answer])
    told = audit_sheet(run, sheet)
    whole, noise = told["agreement"]["reward"], told["agreement"]["reward/style"]
    assert whole["means"] == means
    assert whole["share"] == pytest.approx(0.5 + sign / 2)
    assert whole["low"] <= whole["share"] <= whole["high"]
    assert 0.05 < whole["high"] - whole["low"] < 0.3, "48 samples do not make sure"
    assert noise["low"] < 0.5 < noise["high"]
    assert told["cannot_tell"] == []
    assert len(told["disagree"]) == (2 if sign < 0 else 0)
    assert all("untrusted" in str(sample["response"]) for sample in told["disagree"])


def test_scores_by_chance_are_not_told_from_it(tmp_path: Path) -> None:
    """Scores that have nothing to do with the reward seldom make an order: the interval holds a half in at least 18 of 20 drawings."""
    run, sheet = graded(), tmp_path / "sheet.csv"
    audit_sheet(run, sheet)
    held = 0
    for seed in range(20):
        luck = np.random.default_rng(seed)
        filled(sheet, lambda _, luck=luck: luck.integers(0, 5))
        held += audit_sheet(run, sheet)["agreement"]["reward"]["means"] == "cannot be told from chance"
    assert held >= 18


def test_half_filled_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    """Twenty scores judge and say how many lack; words, infinities, a sample of another run and five scores do not."""
    run, sheet = graded(), tmp_path / "sheet.csv"
    written, earned = audit_sheet(run, sheet)["written"], rewards(run)
    filled(sheet, earned.__getitem__, 20)
    told = audit_sheet(run, sheet)
    assert (told["scored"], told["of"]) == (20, written)
    assert told["agreement"]["reward"]["share"] == 1
    assert told["cannot_tell"] == [f"{written - 20} of {written} samples have no number as score, or are not this run's"]
    for score in ("good", "inf", "=1+1", ""):
        filled(sheet, lambda _, score=score: score)
        told = audit_sheet(run, sheet)
        assert (told["scored"], told["agreement"], told["disagree"]) == (0, {}, [])
    filled(sheet, earned.__getitem__, 5)
    assert audit_sheet(run, sheet)["agreement"] == {}
    filled(sheet, lambda _: 1)
    assert audit_sheet(run, sheet)["agreement"] == {}, "one score for all orders nothing"
    filled(sheet, earned.__getitem__)
    other = made(lambda p, _, rng: (sentence(p, rng), float(rng.random())))
    assert audit_sheet(other, sheet)["scored"] == 0


@pytest.mark.parametrize(
    "held",
    ["a,b\n1,2\n", "", "sample,score\ns1,0.5\n", '"unclosed', f'"{HEAD[0]}"\n1\n', "\0\0\0", "x" * ((1 << 24) + 1)],
    ids=["foreign", "empty", "near", "unclosed", "half a head", "no text", "huge"],
)
def test_a_foreign_file_is_neither_read_nor_written(tmp_path: Path, held: str) -> None:
    """What is no sheet of ours is refused with what was found, and stays as it is."""
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(held)
    with pytest.raises(UsageError, match=r"sheet\.csv"):
        audit_sheet(graded(), sheet)
    assert sheet.read_text() == held


def test_a_sheet_with_numbers_for_names(tmp_path: Path) -> None:
    """Names that are numbers are no samples of this run, and nothing more."""
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(f'"{HEAD[0]}","{HEAD[1]}"\n1,2\n1,3\n')
    assert audit_sheet(graded(), sheet)["scored"] == 0


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1", "  =1", "fine;=1", "fine\n=HYPERLINK(1)", "\uff1d1"]
)
def test_no_cell_is_a_formula(tmp_path: Path, text: str) -> None:
    """A text that a spreadsheet would compute is written as text; one that only holds such a sign is left as it is."""
    base, sheet = graded(), tmp_path / "sheet.csv"
    rows = base.rollouts.assign(prompt=text, response=[f"{text} {i}" for i in range(len(base.rollouts))])
    audit_sheet(Run(rollouts=rows), sheet)
    cells = [cell for row in cells_of(sheet) for cell in row]
    parts = [part.lstrip() for cell in cells for part in cell.replace("\t", ";").replace("\n", ";").split(";")]
    assert not [part for part in parts if part[:1] in set("=+-@\uff1d\uff0b\uff0d\uff20")]
    plain = tmp_path / "plain.csv"
    audit_sheet(Run(rollouts=base.rollouts.assign(prompt="is a=b or 2 - 1 ?")), plain)
    assert '"is a=b or 2 - 1 ?"' in plain.read_text()


def test_nothing_to_draw(tmp_path: Path) -> None:
    """No samples, and samples without a reward, write nothing."""
    base, sheet = graded(), tmp_path / "sheet.csv"
    for run in (Run(), Run(rollouts=base.rollouts.assign(reward=np.nan))):
        with pytest.raises(UsageError, match="has a reward"):
            audit_sheet(run, sheet)
    assert not sheet.exists()


def test_the_command(tmp_path: Path) -> None:
    """``samples --audit SHEET.csv`` writes, then reads; a word that is neither number nor sheet, and a link, write nothing."""
    sheet = tmp_path / "sheet.csv"
    ask = ["samples", RUN, "--audit", str(sheet)]
    told = CliRunner().invoke(main, ask)
    assert told.exit_code == 0, told.output
    assert "samples stand in sheet.csv" in told.output
    order = iter(range(1000))
    filled(sheet, lambda _: next(order), 30)
    again = CliRunner().invoke(main, ask)
    assert "== 30 of " in again.output
    assert "of the pairs as you do" in again.output
    found = json.loads(CliRunner().invoke(main, [*ask, "--json"]).output)["labels"]
    assert found["agreement"]["reward"]["means"] in ("it agrees", "it runs against you", "cannot be told from chance")
    for wrong in ("many", "0", "-3", str(tmp_path)):
        assert CliRunner().invoke(main, ["samples", RUN, "--audit", wrong]).exit_code == 2
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert CliRunner().invoke(main, ["samples", RUN, "--audit", str(tmp_path / "link.csv")]).exit_code == 2
    assert not (tmp_path / "elsewhere.csv").exists()


def test_the_histogram_of_rewards_is_a_picture() -> None:
    """A page shows how often which reward was given, as high bars as there are many; rewards that are all alike have no picture."""
    drawn = bars([1, 4, 0], "rewards")
    assert [part.partition("h")[0].partition("v")[2] for part in drawn.partition(' d="')[2].split("M")[1:]] == [
        f"{-HIGH / 4:.1f}",
        f"{-HIGH:.1f}",
        "-0.0",
    ]
    run = graded()
    alike = Run(rollouts=run.rollouts.assign(reward=0.5))
    told, nothing = assess(run), assess(alike)
    for page, sign in ((html, '<svg class="bars"'), (markdown, "Rewards of the samples")):
        assert sign in page.render(run, told)
        assert sign not in page.render(alike, nothing)


@pytest.mark.parametrize(("sign", "outcome"), [(1, "absent"), (-1, "present"), (0, "unclear")])
def test_a_filled_sheet_in_the_runs_folder_is_a_finding(tmp_path: Path, sign: int, outcome: str) -> None:
    """Scores beside the samples are held against the reward and its parts, as a spreadsheet saves them; the blind sheet is no sample."""
    folder = tmp_path / "run"
    folder.mkdir()
    graded().rollouts.drop(columns=["source", "row"]).to_json(folder / "rollouts.jsonl", orient="records", lines=True)
    run, sheet = read_run(folder), folder / "sheet.csv"
    assert patterns()["reward_against_person"].detect(run).outcome == "not_logged"
    audit_sheet(run, sheet)
    earned, luck = rewards(run), np.random.default_rng(1)
    filled(sheet, lambda answer: sign * earned[answer] if sign else luck.integers(0, 30))
    rows = cells_of(sheet)
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    again = read_run(folder)
    assert len(again.rollouts) == len(run.rollouts)
    told = patterns()["reward_against_person"].detect(again)
    assert told.outcome == outcome
    assert "person high" in told.measures
    assert "reward/style" in told.statement
