"""Whatever holds numbers in rows is read: the shapes that were refused once for a suffix, a file's name, a word or its first line."""

import json
import random
from pathlib import Path

import pytest
from benchmarks.print_styles import drawn, judged
from rl_advisor.reading import UnreadableRun, read_run

ROWS = range(1, 9)
CONFIG = '{"type": "config", "args": {"lr": 2e-5}}\n'
TABLE = "".join(f"{i},{i * 0.5},{0.99**i:.4f}\n" for i in ROWS)


def lines(form: str) -> str:
    """The form for each row, its numbers filled in."""
    return "".join(form.format(i=i, r=i**2 % 7 - 18.5, s=i**2 % 5 / 8) for i in ROWS)


CASES = {
    "log_1.txt": (lines("Episode {i} reward {r} eps {s}\n"), "reward", -17.5),
    "r1.log": (lines("Epoch:[1/1]({i}/500), Reward: {s}, Fmt: 1.00, Correct: {s}\n"), "Reward", 0.5),
    "1_mean.txt": (lines("2018-08-06 13:01:0{i},031 INFO Result for episode {i}  of 40000: Sum: {r}, Average: 0.0\n"), "Sum", -17.5),
    "reward.txt": ("episode,reward,eps\n" + TABLE, "reward", 4.0),
    "training_log.jsonl": (CONFIG + lines('{{"step": {i}, "reward": {s}}}\n'), "reward", 0.5),
    "fitness_history.csv": (lines("{r} {s}\n"), "c0", -17.5),
    "progress.dat": (lines("{i} {i}00 {s}\n"), "c2", 0.5),
    "wins.log": (lines("iter {i} avg_winrate: {s} loss: 0.5\n"), "avg_winrate", 0.5),
    "parts.log": (lines("it {i} Reward: mean={s} std=0.5 Steps: mean={i} std=3.5\n"), "Reward/mean", 0.5),
    "saved": ("# step  score\n" + lines("{i}\t{s}\n"), "score", 0.5),
    "curve": (str([i**2 % 5 / 8 for i in ROWS]), "c0", 0.5),
    "pairs.dump": (json.dumps([[i, i**2 % 5 / 8] for i in ROWS]), "c1", 0.5),
    "unnamed.csv": (lines("{i},left,{s}\n"), "c2", 0.5),
    "deep.json": (json.dumps({"meta": {"a": 1}, "out": {"h": [{"t": i, "perf": i**2 % 5 / 8} for i in ROWS]}}), "out/h/perf", 0.5),
    "zh.log": (lines("回合 {i} 奖励 {s}\n"), "奖励", 0.5),
    "fr.log": (lines("épisode {i} : récompense {s:.2f} perte 0.5\n").replace(".", ","), "récompense", 0.5),
    "agents.json": (json.dumps({f"a{k}": {"rewards": [i**2 % 5 / 8 for i in ROWS], "n": 3} for k in (1, 2)}), "rewards", 0.5),
    "box.md": ("| it | perf |\n|---|---|\n" + lines("| {i} | {s} |\n"), "perf", 0.5),
    "inside.out": (lines('2024-01-01 12:00:00 INFO {{"it": {i}, "perf": {s}}}\n'), "perf", 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_of_numbers_are_read(tmp_path: Path, name: str) -> None:
    """Every row of the column, under its name or its place, and it is what is taken for the outcome."""
    text, raw, last = CASES[name]
    (tmp_path / name).write_text(text)
    run = read_run(tmp_path / name)
    outcome = next(c for n, c in run.curves.items() if n == "reward/mean" or n.startswith("eval/score/"))
    assert (outcome.raw, outcome.value.size, outcome.value[-1]) == (raw, len(ROWS), last)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "At step 5 the reward was 3.5\n"),
        ("requirements.txt", "a==1\nb==2\nc==3\nd==4\ne==5\nf==6\n"),
        ("same.log", "Reward 5\n" * 9),
        ("words.csv", "a,b\n" + "x,y\n" * 9),
        ("blob", "\x00\x01" + "1,2\n" * 9),
    ],
)
def test_what_holds_no_rows_of_numbers_is_refused(tmp_path: Path, name: str, text: str) -> None:
    """One row, the same row again, names and versions, words, bytes."""
    (tmp_path / name).write_text(text)
    with pytest.raises(UnreadableRun):
        read_run(tmp_path / name)


def test_tables_in_drawn_styles_come_back(tmp_path: Path) -> None:
    """A small share of the proving ground: every number that was printed, none that was not, no refusal."""
    dice = random.Random(5)  # noqa: S311 - no secret
    tables = [drawn(dice, held=False) for _ in range(40)]
    found = [judged(table, tmp_path) for table in tables]
    assert [table.style for table, told in zip(tables, found, strict=True) if told is None or told[0] < told[1] or told[2]] == []


def test_half_a_character_in_a_name_ends_nothing(tmp_path: Path) -> None:
    """Rows that are cut, with a name no encoder takes: what stands before the cut is read."""
    rows = ", ".join(json.dumps({"step": i, "score": i**2 % 5 / 8, "a\ud800": i}) for i in ROWS)
    (tmp_path / "steps.json").write_text(f'[{rows}, {{"step" 1}}]')
    assert read_run(tmp_path / "steps.json").curves
