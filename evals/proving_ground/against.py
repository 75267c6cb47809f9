"""What a run's own sound kin add: ``python -m evals.proving_ground.against FOLDER [--runs N]``, on a set that was made with ``--kin``.

Every run that is broken a little, and every second half of a group's sound runs, is judged alone and beside one, two and three sound runs of
its group. Leaves ``FOLDER/against.jsonl`` and prints the table; goes on where it stopped.
"""

import argparse
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from evals.proving_ground import figures, plans
from rl_advisor.finding import BROKEN

DOSES = (0, 0.05, 0.1, 0.15, 0.2)
BESIDE = (0, 1, 2, 3)
"""Numbers of sound runs."""
Row = dict[str, Any]


def answer(job: tuple[str, tuple[str, ...]]) -> list[Row]:
    """What the advisor says of a run alone, and beside the first so many of these sound runs."""
    from evals.proving_ground.judge import judged
    from rl_advisor.judgement.case import open_case
    from rl_advisor.reading import read_run

    folder, sound = job
    run, known = read_run(Path(folder)), tuple(read_run(Path(s)) for s in sound)
    told = []
    for count in BESIDE:
        case = open_case(replace(run, sound=known[:count]))
        found = case.findings["unlike_sound_runs"].outcome.value
        told.append({"run": Path(folder).name, "beside": count, "left": found == "present"} | judged(case))
    return told


def jobs(folder: Path, labels: dict[str, Any], done: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The runs that are to be judged, each with the sound runs of its group."""
    groups: dict[str, list[str]] = {}
    for name, label in labels.items():
        if not label["broken"]:
            groups.setdefault(label["scenario"], []).append(name)
    for name, label in labels.items():
        sound = sorted(groups[label["scenario"]])[: max(BESIDE)]
        if name not in done and name not in sound:
            yield str(folder / "runs" / name), tuple(str(folder / "runs" / s) for s in sound)


def rows_of(labels: dict[str, Any], answers: Sequence[Row]) -> list[Row]:
    """Answers beside their labels, with what is counted of each."""
    rows = []
    for a in answers:
        label = labels[a["run"]]
        row = {"broken": bool(label["broken"]), "harmed": label["cause"] is not None, "held": label["split"] == "test", "left": a["left"]}
        row |= {"verdict": a["verdict"] in label["verdicts"], "link": a["link"] in (label["links"] or ["none"])}
        rows.append(row | {"alarm": a["verdict"] in BROKEN or a["link"] != "none", "run": a["run"], "beside": a["beside"]})
    return rows


def told(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """The table: alarms of sound runs, what is seen of broken ones, and of what was missed alone; by the number of sound runs."""
    missed = {r["run"] for r in rows if r["beside"] == 0 and not r["alarm"]}
    quiet = [r for r in rows if r["run"] in missed]
    lines = {}
    for count in BESIDE:
        mine = [r for r in rows if r["beside"] == count]
        sound, broken = [r for r in mine if not r["broken"]], [r for r in mine if r["broken"]]
        harmed = [r for r in broken if r["harmed"]]
        lines["alone" if count == 0 else f"beside {count}"] = {
            "runs": len(mine), "verdict": figures.share(mine, "verdict"), "link": figures.share(mine, "link"),
            "sound runs": len(sound), "alarms": figures.share(sound, "alarm"),
            "new alarms": figures.share([r for r in quiet if r["beside"] == count and not r["broken"]], "alarm"),
            "leave the band": figures.share(sound, "left"),
            "broken seen": figures.share(broken, "alarm"), "missed alone, now found": figures.share([r for r in broken if r["run"] in missed], "left"),
            "harmed seen": figures.share(harmed, "alarm"),
            "harmed and missed alone, now found": figures.share([r for r in harmed if r["run"] in missed], "left"),
        }  # fmt: skip
    return lines


def page(folder: Path) -> str:
    """The section of the page: all runs, and those held out."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    rows = rows_of(labels, [json.loads(line) for line in (folder / "against.jsonl").open(encoding="utf-8")])
    held = [r for r in rows if r["held"]]
    missed = [r["run"] for r in rows if r["beside"] == 0 and r["broken"] and not r["alarm"]]
    harmed = [r["run"] for r in rows if r["beside"] == 0 and r["harmed"] and not r["alarm"]]
    told_of = (
        f"`assess RUN --against GOOD [GOOD...]`: groups of {plans.KIN.sound} sound runs and {plans.KIN.broken} that are broken by a dose of at most "
        f"{plans.KIN.most:g}, all logged alike; three sound runs are named, the other three are judged. Of the broken runs {len(missed)} are missed "
        f"alone, of which {len(harmed)} had come to harm. *Alarms*: a verdict that something is wrong, or a link that is blamed; *leave the band*: "
        "sound runs of which something does; *new alarms*: sound runs that raise none alone."
    )
    tables = (figures.markdown(told(rows), "all"), figures.markdown(told(held), "tasks and faults held out"))
    return "\n\n".join(["## Beside sound runs of one's own", told_of, *tables, figures.markdown(by_dose(labels, rows), "dose, beside 3")])


def by_dose(labels: dict[str, Any], rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """How many broken runs leave the band, by dose and by whether harm was done."""
    mine = [r for r in rows if r["broken"] and r["beside"] == max(BESIDE)]
    lines = {}
    for name, kept in (("", mine), (", harmed", [r for r in mine if r["harmed"]])):
        doses = figures.grouped(kept, lambda r: figures.band(max(b["dose"] for b in labels[r["run"]]["broken"]), DOSES))
        lines |= {
            f"{dose}{name}": {"runs": len(part), "leave the band": figures.share(part, "left")} for dose, part in sorted(doses.items())
        }
    return lines


def main() -> None:
    """Judge what is not judged yet, and print the tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--runs", type=int, help="at most so many runs, drawn by their names")
    asked.add_argument("--workers", type=int, default=2)
    given = asked.parse_args()
    labels = json.loads((given.folder / "labels.json").read_text(encoding="utf-8"))
    path = given.folder / "against.jsonl"
    done = {json.loads(line)["run"] for line in path.open(encoding="utf-8")} if path.exists() else set()
    left = sorted(jobs(given.folder, labels, done), key=lambda job: zlib.crc32(job[0].encode()))[: given.runs]
    with path.open("a", 1, encoding="utf-8") as file, Pool(given.workers, initializer=os.nice, initargs=(15,)) as pool:
        for i, rows in enumerate(pool.imap_unordered(answer, left, chunksize=2), 1):
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            if i % 100 == 0:
                print(f"{i}/{len(left)} judged", flush=True)
    print(page(given.folder))


if __name__ == "__main__":
    main()
