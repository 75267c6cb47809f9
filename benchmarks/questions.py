"""What people asked: how often the answer to an input made from a public thread is right, as a table for docs/dev/questions.md.

Give the folder of questions: python benchmarks/questions.py FOLDER [--write FILE]. Links, causes (key words) and verdicts that
the thread allows stand in its cases.json; an input that cannot be read counts as wrong in everything.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rl_advisor import tools
from rl_advisor.finding import BROKEN
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import UnreadableRun

NOTHING = {"read": False, "verdict": False, "link": False, "cause": False, "alarm": False}
START, END = "<!-- questions -->", "<!-- /questions -->"


def answered(folder: Path, case: Mapping[str, Any]) -> dict[str, bool]:
    """Which parts of the answer to one case are right."""
    try:
        answer = tools.assess_run(folder / case["path"])
    except (UnreadableRun, UsageError, FileNotFoundError):
        return NOTHING
    said = [answer["summary"], answer["next_experiment"]["do"]]
    said += [f"{f['pattern']} {f['statement']}" for f in answer["findings"] if f["outcome"] == "present"]
    text = " ".join(said).lower().replace("_", " ")
    return {
        "read": True,
        "verdict": answer["verdict"] in case["admissible_verdicts"],
        "link": answer["first_broken_link"] in case["admissible_links"],
        "cause": any(word.lower().replace("_", " ") in text for word in case["admissible_causes"]),
        "alarm": case["admissible_links"] == ["none"] and answer["verdict"] in BROKEN,
    }


def table(rows: list[tuple[Mapping[str, Any], dict[str, bool]]]) -> str:
    """The shares right, as a table in Markdown."""
    kinds = (("all", ""), ("pasted lines", "real"), ("whole logs", "whole"))
    lines = ["| inputs | n | read | verdict | link | cause | false alarms |", "|---|---|---|---|---|---|---|"]
    for name, kind in kinds:
        some = [got for case, got in rows if not kind or case["input"].startswith("real") == (kind == "real")]
        shares = [f"{sum(got[part] for got in some) / max(1, len(some)):.2f}" for part in ("read", "verdict", "link", "cause")]
        lines.append(f"| {name} | {len(some)} | {' | '.join(shares)} | {sum(got['alarm'] for got in some)} |")
    return "\n".join(lines)


def main() -> None:
    """Answer every case and print the table; with --write put it between the marks of a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    cases = json.loads((asked.folder / "cases.json").read_text())["cases"]
    made = table([(case, answered(asked.folder, case)) for case in cases])
    print(made)
    if asked.write:
        text = asked.write.read_text()
        if START not in text:
            told = "## What people asked\n\nInputs made from public issue threads; development material."
            text = f"{text.rstrip()}\n\n{told}\n\n{START}\n{END}\n"
        before, _, rest = text.partition(START)
        asked.write.write_text(f"{before}{START}\n{made}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
