"""Damaged logs: what is read of them stands in them (20,000 of them: ``python benchmarks/invented.py``)."""

from pathlib import Path

import pytest
from rl_advisor.reading import format_of
from test_consoles import RSL_RL
from test_lines import DICTS, LINES

from inventing import damaged_logs, invented, read_of
from mutating import DATA, shortened

REAL = [p for p in sorted(DATA.rglob("*.log")) if p.stat().st_size > 100]
ROWS = 8


def logs() -> list[tuple[str, bytes]]:
    """Small real logs and some rows in the form of each trainer."""
    made = [*LINES.values(), *DICTS.values(), *(RSL_RL.replace("7/1500", "{i}/1500"),)]
    text = ["".join(line.replace("\\t", "\t").replace("{i}", str(i)) for i in range(1, ROWS + 1)) for line in made]
    return [*(("train.log", shortened(p)) for p in REAL), *(("train.log", t.encode()) for t in text)]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_read_of_a_damaged_log_stands_in_it(tmp_path: Path, seed: int) -> None:
    """Values, steps and names, by search in the text."""
    for name, data in damaged_logs(logs(), 100, seed):
        text, run = read_of(tmp_path, name, data)
        assert run is None or not list(invented(text, run)), data


@pytest.mark.parametrize(
    "prose",
    [
        "model.safetensors:  {i}5%|████      | 1.{i}G/2.3G [00:1{i}<00:0{i}, 120MB/s]\r",
        "Downloading shards: 100%|██████████| {i}/9 [00:0{i}<00:00, 1.1s/it]\n",
        "The answer is {i}. So we have x = {i} and y: {i}2, which gives a total of 1{i}.\n",
        "Player[0] : 3 3 {i} 4 4 A A   cards: K K Q J 10 10 {i}\n",
        "requests: GET /v1/models HTTP/1.1 200 OK, took {i}ms\n",
        "step {i}: open the door, then walk {i} metres\n",
        "| {i} | what is it | 4{i} |\n",
        "1{i}:00:0{i} reward hacking is a risk when reward = proxy\n",
        "[{i}/9] Building CXX object reward.o\n",
    ],
)
def test_prose_bars_and_answers_are_no_log(tmp_path: Path, prose: str) -> None:
    """Lines that repeat and hold numbers, but none of a learner's."""
    path = tmp_path / "train.log"
    path.write_text("".join(prose.replace("{i}", str(i)) for i in range(1, ROWS)))
    module = format_of(path)
    assert module is None or not module.read(path).curves


@pytest.mark.parametrize(
    "between",
    [
        "So we get x = {i} and then y = {i}{i}.\nThe reward of honesty is 1{i} coins.\n",
        "checkpoint: 4{i}%|███   | {i}/9 [00:01<00:02]\r",
        "Q: how many? A: {i} apples, price: {i} dollars\n",
        "```python\nscore = {i}\nfor k in range({i}): total += k\n```\n",
    ],
)
def test_what_stands_between_rows_leaves_the_rows_alone(tmp_path: Path, between: str) -> None:
    """The reward and its steps are the same with text between the rows."""
    path = tmp_path / "train.log"
    rows = [f"Episode {i}/40, Reward: {i}.5, Loss: 0.{i}\n" for i in range(1, 10)]
    path.write_text("".join(row + between.replace("{i}", str(i * 7 % 5)) for i, row in enumerate(rows)))
    module = format_of(path)
    assert module is not None
    reward = module.read(path).curves["Reward"]
    assert reward.step.tolist() == list(range(1, 10))
    assert reward.value.tolist() == [i + 0.5 for i in range(1, 10)]
