"""How the judge does on the proving ground, as a page: ``python -m evals.proving_ground.pages FOLDER [--write FILE]``.

``--section`` writes what stands of it in docs/dev/accuracy.md, ``--diagram`` the reliability diagram of both.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.proving_ground.diagram import diagram
from evals.proving_ground.figures import (
    Row,
    acted,
    band,
    going_on,
    grouped,
    judgement,
    markdown,
    power,
    rows_of,
    said_and_happened,
    seen,
    trained,
    witnesses,
)
from evals.proving_ground.plans import OF_TOKENS

DOSES, LENGTHS, STEPS = (0, 0.25, 0.5, 0.75), (60, 120, 240, 420), (0, 30, 60, 120, 240)
"""Where the lines of a table begin: by dose, by the length of a run, by steps since the onset."""
DIAGRAM = "reliability.svg"
INTRODUCTION = """Printed by `{command}`; what the runs are: `evals/proving_ground/README.md`. Of {made} runs {runs} of the held-out part, drawn by
their names: tasks and faults that no fit saw. A verdict or link is right where the label admits it; *mass on the truth* is the probability given to what it admits.
The truth is that of the score which is never logged: most runs here log no evaluation at all, as most runs of strangers do."""


def page(rows: list[Row], command: str, made: int) -> str:
    """The whole page on judged rows of so many runs."""
    end, half = [r for r in rows if r["cut"] == 1], [r for r in rows if r["cut"] == 0.5]
    ill = power(rows)
    told = [
        "# How the judge does on the proving ground",
        INTRODUCTION.format(command=command, runs=len(end), made=made),
        "## Verdict and link",
        markdown({"at half": judgement(half), "at the end": judgement(end)}, "cut"),
        "By kind, learner, task and convention, at the end:",
        markdown(
            {
                n: judgement(r)
                for by in ("kind", "learner", "task", "convention")
                for n, r in grouped(end, lambda r, by=by: word(r, by)).items()
            },
            "runs of",
        ),
        "By length of the run and by whether a held-out score is logged, at the end:",
        markdown(
            {n: judgement(r) for n, r in sorted(grouped(end, lambda r: band(trained(r), LENGTHS, " steps")).items(), key=by_number)},
            "length",
        ),
        markdown(
            {n: judgement(r) for n, r in grouped(end, lambda r: "yes" if r["label"]["eval_visible"] else "no").items()}, "score logged"
        ),
        "## Going on",
        markdown(going_on(rows), "at half"),
        "## Power",
        "Runs in which a fault had done harm by the cut; `seen` is a verdict that something is wrong, or a link that is blamed.",
        markdown({n: seen(r) for n, r in sorted(grouped(ill, lambda r: band(r["dose"], DOSES)).items())}, "dose"),
        markdown(
            {n: seen(r) for n, r in sorted(grouped(ill, lambda r: band(r["acted"], (0, 0.1, 0.25, 0.5, 0.75))).items())},
            "share of the plan since the onset",
        ),
        markdown(
            {n: seen(r) for n, r in sorted(grouped(ill, lambda r: band(acted(r), STEPS)).items(), key=by_number)}, "steps since the onset"
        ),
        markdown({n: seen(r) for n, r in grouped(ill, lambda r: r["fault"]).items()}, "fault"),
        "## False alarms",
        "Sound runs (nothing was broken, and the true score rose or stood) called broken, by their habit, at the end:",
        markdown(
            {n or "nothing odd": judgement(r) for n, r in grouped([r for r in end if r["sound"]], lambda r: r["label"]["habit"]).items()},
            "habit",
        ),
        "How often each detector finds its pattern in sound runs and in harmed ones, at the end:",
        markdown(witnesses(end), "detector"),
        "## Reliability",
        "The probability of the verdict that is given, and how often it is right; then of going on.",
        f"![what was said against what happened]({DIAGRAM})",
        *(markdown(tenths, name) for name, tenths in said_and_happened(rows).items()),
    ]
    return "\n\n".join(told).replace("\n\n\n", "\n\n")


def section(rows: Sequence[Row], made: int) -> str:
    """What stands of it in docs/dev/accuracy.md."""
    end, half, ill = [r for r in rows if r["cut"] == 1], [r for r in rows if r["cut"] == 0.5], power(rows)
    return "\n\n".join(
        [
            "## The proving ground: runs whose truth is known, tasks and faults held out",
            (
                f"{len(end)} of {made} small trainings whose true score is never logged, judged at half and at the end by `make proving-ground`; verdicts "
                "and links by definition from the true score. By task, convention, fault, habit and detector: [proving-ground.md](proving-ground.md)."
            ),
            markdown({"at half": judgement(half), "at the end": judgement(end)}, "cut"),
            markdown({n: judgement(r) for n, r in grouped(end, lambda r: str(r["label"]["learner"])).items()}, "learner, at the end"),
            markdown(going_on(rows), "go on, at half"),
            "Harm that is seen (a broken verdict, or a link that is blamed), by the dose of its fault and by how long it acted; false alarms stand above:",
            markdown({n: seen(r) for n, r in sorted(grouped(ill, lambda r: band(r["dose"], DOSES)).items())}, "dose"),
            markdown(
                {n: seen(r) for n, r in sorted(grouped(ill, lambda r: band(acted(r), STEPS)).items(), key=by_number)},
                "steps since the onset",
            ),
            f"![what was said against what happened]({DIAGRAM})\n",
        ]
    ).replace("\n\n\n", "\n\n")


def by_number(one: tuple[str, Any]) -> float:
    """The number that a line begins with."""
    return float(one[0].removeprefix("from ").split()[0])


def word(row: Row, by: str) -> str:
    """What a run is called in a table."""
    if by == "kind":
        return "language" if row["label"]["learner"] in OF_TOKENS else "control"
    return str(row["label"][by])


def main() -> None:
    """Print the page, or write it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--answers", type=Path)
    asked.add_argument("--part", default="test")
    asked.add_argument("--kin", type=Path, help="a folder that evals.proving_ground.against has judged")
    asked.add_argument("--write", type=Path)
    asked.add_argument("--section", type=Path, help="what stands of it in docs/dev/accuracy.md")
    asked.add_argument("--diagram", type=Path)
    given = asked.parse_args()
    labels = json.loads((given.folder / "labels.json").read_text(encoding="utf-8"))
    path = given.answers or given.folder / "answers.jsonl"
    answers = [json.loads(line) for line in path.open(encoding="utf-8")]
    rows = rows_of(labels, [a for a in answers if labels[a["run"]]["split"] == given.part])
    text = page(rows, "python -m evals.proving_ground.pages FOLDER", len(labels))
    if given.kin:
        from evals.proving_ground import against

        text = f"{text.rstrip()}\n\n{against.page(given.kin)}"
    if given.section:
        given.section.write_text(section(rows, len(labels)), encoding="utf-8")
    if given.diagram:
        given.diagram.write_text(diagram(said_and_happened(rows)), encoding="utf-8")
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
