"""A reward's code is read, never run: what it pays, its holes beside near-misses, and which episodes used them."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from rl_advisor.cli.commands import main
from rl_advisor.run import Run
from rl_advisor.samples.reward_code import code_lines, read_reward, used

HEAD = "import re\ndef reward_fn(response, ground_truth):\n    score = 0.0\n"
CASES = [
    ("    if ground_truth in response:\n        score += 1.0\n", {"substring"}),
    ("    if ground_truth in response.split():\n        score += 1.0\n", set()),
    ("    found = re.search(r'<answer>(.*)', response)\n    score += float(found.group(1) == ground_truth)\n", {"no end"}),
    ("    found = re.search(r'<answer>(.*?)</answer>', response)\n    score += float(found.group(1) == ground_truth)\n", set()),
    ("    score += 0.01 * len(response.split())\n    score += check(response, ground_truth)\n", {"length"}),
    ("    score -= 1.0 * (len(response) < 5)\n    score += check(response, ground_truth)\n", set()),
    ("    score += 0.1 * response.count('!')\n    score += check(response, ground_truth)\n", {"count"}),
    ("    score += 0.1 * min(response.count('!'), 3)\n    score += check(response, ground_truth)\n", set()),
    ("    n = response.count('!')\n    score += 0.1 * min(n, 3)\n    score += check(response, ground_truth)\n", set()),
    ("    n = response.count('!')\n    score += 0.1 * n\n    score += check(response, ground_truth)\n", {"count"}),
    ("    if '</think>' in response:\n        score += 0.5\n", {"never checked"}),
    ("    try:\n        score = 1.0 * check(response, ground_truth)\n    except Exception:\n        return 0.0\n", {"hidden error"}),
    ("    score = 1.0 if eval(response) == ground_truth else 0.0\n", {"runs the response"}),
    ("    said = response\n    score = 1.0 if said == ground_truth else 0.0\n", {"exact text"}),
    ("    said = re.findall(r'\\d+', response)[0]\n    score = 1.0 if float(said) == float(ground_truth) else 0.0\n", {"first match"}),
]


@pytest.mark.parametrize(("body", "kinds"), CASES)
def test_holes(body: str, kinds: set[str]) -> None:
    """Each hole is found in its line, and the sound way of writing the same is none."""
    found = read_reward(f"{HEAD}{body}    return score\n")
    assert {hole["kind"] for hole in found["holes"]} == kinds
    assert all(hole["line"] > 0 for hole in found["holes"])


def test_what_it_pays() -> None:
    """Amounts with their conditions, the other branch as its opposite."""
    body = "    if '<b>' in response:\n        score += 0.2\n    else:\n        score -= 0.5\n"
    pays = read_reward(f"{HEAD}{body}    return score\n")["pays"]
    assert [(p["line"], p["how_much"], p["condition"]) for p in pays] == [
        (5, "0.2", "'<b>' in response"),
        (7, "-0.5", "not ('<b>' in response)"),
    ]


@pytest.mark.parametrize("source", ["def f(:", "(" * 5000, "\0", "x = " + "-" * 20_000 + "1"])
def test_what_is_no_code(source: str) -> None:
    """Anything else is said not to be readable, and nothing is run."""
    assert read_reward(source)["cannot_tell"] or not read_reward(source)["holes"]


def test_who_used_a_hole(tmp_path: Path) -> None:
    """Paid episodes that list the right answer and end in another are counted, with the first step; the command prints it."""
    rows = [
        {"step": s, "prompt": "q", "response": f"1 2 3 so <answer>{4 - (s < 2)}</answer>", "reward": 1.0, "answer": "3"} for s in range(4)
    ]
    rows.append({"step": 9, "prompt": "q", "response": "none", "reward": 0.0, "answer": "3"})
    source = f"{HEAD}{CASES[0][0]}    return score\n"
    (hole,) = used(Run(rollouts=pd.DataFrame(rows)), read_reward(source))["holes"]
    assert (hole["episodes"], hole["of_paid"], hole["since"]) == (2, 4, 2)
    assert any("first at step 2" in line for line in code_lines(used(Run(rollouts=pd.DataFrame(rows)), read_reward(source))))
    (tmp_path / "reward.py").write_text(source)
    told = CliRunner().invoke(main, ["samples", "tests/data/rollouts/call_hack", "--reward", str(tmp_path / "reward.py")])
    assert told.exit_code == 0, told.output
    assert "substring: the right answer anywhere" in " ".join(told.output.split())
