"""Tables of results and documents that are no course over steps are not judged as one; what only looks like them is read."""

import json

import pytest
from rl_advisor import tools
from rl_advisor.reading import UnreadableRun

ROWS = [("plain", 0.41), ("keyword", 0.47), ("learned", 0.62), ("oracle", 0.81), ("mixed", 0.55), ("random", 0.12)]


def csv(first: str, labels: list[str]) -> str:
    """Rewards under labels."""
    return f"{first},reward,cost\n" + "".join(
        f"{label},{reward},{i % 3}\n" for i, (label, (_, reward)) in enumerate(zip(labels, ROWS * 2, strict=False))
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("summary.csv", csv("method", [label for label, _ in ROWS])),
        (
            "summary.csv",
            "set," + csv("method", [f"{s},{label}" for s in ("maze", "hall") for label, _ in ROWS]).replace("method,", "method,", 1),
        ),
        ("summary.json", json.dumps([{"method": label, "reward": reward} for label, reward in ROWS])),
        (
            "answers.json",
            json.dumps(
                {"n": 9, "bad": [{"question": "how many? " * 20, "gold": str(i), "answer": str(i + 2)} for i in range(9)]}, indent=1
            ),
        ),
    ],
    ids=["methods", "sets by methods", "the same in JSON", "graded answers, one field a line"],
)
def test_what_stands_side_by_side_is_no_course(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(UnreadableRun):
        tools.assess_run(tmp_path / name)


@pytest.mark.parametrize(
    ("first", "labels"),
    [
        ("checkpoint", [f"model-{i}.pt" for i in range(12)]),
        ("episode", [str(i) for i in range(12)]),
        ("phase", ["train"] * 12),
        ("when", [f"2025-01-{i:02}" for i in range(1, 13)]),
    ],
)
def test_what_a_row_carries_beside_its_course_leaves_it_one(tmp_path, first, labels):
    (tmp_path / "rewards.csv").write_text(csv(first, labels))
    assert "reward" in tools.assess_run(tmp_path / "rewards.csv")["summary"]


def test_a_count_of_turns_is_no_outcome(tmp_path):
    (tmp_path / "games.json").write_text(json.dumps([{"turn": i, "guess": "x"} for i in range(1, 7)]))
    assert tools.assess_run(tmp_path / "games.json")["verdict"] == "undecidable"
