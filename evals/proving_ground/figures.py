"""What is counted of the answers on the proving ground, and how tables of it are written."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground.truth import SOUND
from rl_advisor.evals import scoring
from rl_advisor.finding import BROKEN

Row = dict[str, Any]
Floats = npt.NDArray[np.float64]
FEWEST = 8
"""Runs below which a line is left out of a table."""


def rows_of(labels: Mapping[str, Any], answers: Sequence[Row]) -> list[Row]:
    """Answers beside their labels, with what is counted of each."""
    rows = []
    for a in answers:
        label = labels[a["run"]]
        part = label if a["cut"] == 1 else label["cuts"][f"{a['cut']:g}"]
        links = set(part["links"] or ["none"])
        odds = a.get("probabilities") or {a["verdict"]: 1.0}
        untouched = all(b["onset"] >= a["cut"] for b in label["broken"])
        row = {"cut": a["cut"], "label": label, "part": part, "answer": a, "sound": untouched and set(part["verdicts"]) <= SOUND}
        row |= {"verdict": a["verdict"] in part["verdicts"], "link": a["link"] in links, "top": max(odds.values())}
        row |= {"alarm": a["verdict"] in BROKEN, "blamed": a["link"] != "none", "mass": sum(odds.get(v, 0.0) for v in part["verdicts"])}
        rows.append(row)
    return rows


def share(rows: Sequence[Row], what: str) -> float:
    """Share of rows of which that holds; NaN of none."""
    return float(np.mean([r[what] for r in rows])) if rows else float("nan")


def judgement(rows: Sequence[Row]) -> dict[str, float]:
    """Verdict, link, sureness and false alarms."""
    sound = [r for r in rows if r["sound"]]
    right, top = np.array([r["verdict"] for r in rows]), np.array([r["top"] for r in rows])
    return {
        "runs": len(rows), "verdict": share(rows, "verdict"), "link": share(rows, "link"), "mass on the truth": share(rows, "mass"),
        "ECE": scoring.calibration_error(right, top), "sound runs": len(sound), "called broken": share(sound, "alarm"),
        "a link blamed": share(sound, "blamed"),
    }  # fmt: skip


def going_on(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """The probability that going on pays, and the calls, beside simple policies; cuts before the end only."""
    rows = [r for r in rows if r["cut"] < 1 and r["answer"].get("p") is not None]
    pays = np.array([r["part"]["continue_pays"] for r in rows], bool)
    p = np.array([r["answer"]["p"] for r in rows])
    base = np.full(pays.size, pays.mean())
    told = {"judge": scored(pays, p, np.array([r["answer"]["call"] == "continue" for r in rows]))}
    told["always continue"] = scored(pays, base, np.ones(pays.size, bool))
    told["always stop"] = scored(pays, base, np.zeros(pays.size, bool))
    recent = np.array([r["answer"].get("recent_best", True) for r in rows])
    told["patience of a fifth"] = scored(pays, recent.astype(float), recent)
    again = [r for r in rows if "again_pays" in r["part"]]
    if again:
        other = np.array([r["part"]["again_pays"] for r in again])
        told["another second half (what is luck)"] = scored(
            np.array([r["part"]["continue_pays"] for r in again]), other.astype(float), other
        )
    return told


def scored(pays: npt.NDArray[np.bool_], p: Floats, call: npt.NDArray[np.bool_]) -> dict[str, float]:
    """AUROC, Brier and calibration of a probability, balanced accuracy of a call."""
    return {
        "runs": pays.size, "pays": float(pays.mean()), "AUROC": scoring.auroc(pays, p), "Brier": scoring.brier(pays, p),
        "ECE": scoring.calibration_error(pays, p), "balanced accuracy": scoring.balanced_accuracy(pays, call),
    }  # fmt: skip


def grouped(rows: Sequence[Row], by: Callable[[Row], str]) -> dict[str, list[Row]]:
    """The rows by a word, largest group first."""
    found: dict[str, list[Row]] = {}
    for r in rows:
        found.setdefault(by(r), []).append(r)
    return dict(sorted(found.items(), key=lambda one: (-len(one[1]), one[0])))


def power(rows: Sequence[Row]) -> list[Row]:
    """Rows whose fault did harm by then, with how strong it was and how long it had acted, as shares."""
    found = []
    for r in rows:
        cause = r["part"]["cause"]
        acting = [b for b in r["label"]["broken"] if b["fault"] == cause]
        if acting:
            found.append(
                r | {"fault": cause, "dose": acting[0]["dose"], "acted": r["cut"] - acting[0]["onset"], "seen": r["alarm"] or r["blamed"]}
            )
    return found


def seen(rows: Sequence[Row]) -> dict[str, float]:
    """How often harm is seen, and put down to the right link."""
    return {"runs": len(rows), "seen": share(rows, "seen"), "verdict": share(rows, "verdict"), "link": share(rows, "link")}


def witnesses(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """How often each detector speaks in sound runs and in runs that a fault harmed; the ones that speak most in sound runs first."""
    sound, ill = [r for r in rows if r["sound"]], power(rows)
    names = sorted({name for r in rows for name in r["answer"].get("found", {})})

    def rate(part: Sequence[Row], name: str) -> float:
        return float(np.mean([r["answer"].get("found", {}).get(name) == "present" for r in part])) if part else float("nan")

    told = {n: {"runs": len(rows), "in sound runs": rate(sound, n), "in harmed runs": rate(ill, n)} for n in names}
    return dict(
        sorted(
            ((n, t) for n, t in told.items() if t["in sound runs"] + t["in harmed runs"] > 0.02), key=lambda one: -one[1]["in sound runs"]
        )
    )


def band(value: float, edges: Sequence[float], unit: str = "") -> str:
    """The interval a value lies in, as words that sort."""
    low = max([e for e in edges if e <= value], default=edges[0])
    above = [e for e in edges if e > value]
    return f"{low:g}{unit} to {above[0]:g}{unit}" if above else f"from {low:g}{unit}"


def markdown(table: Mapping[str, Mapping[str, float]], head: str) -> str:
    """A table with a line a name; counts whole, shares with two digits."""
    kept = {name: line for name, line in table.items() if line["runs"] >= FEWEST}
    if not kept:
        return "(too few runs)\n"
    columns = list(next(iter(kept.values())))
    lines = [f"| {head} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cell(line[c], c) for c in columns) + " |" for name, line in kept.items()]
    return "\n".join(lines) + "\n"


def cell(value: float, column: str) -> str:
    """A number as a table shows it."""
    return "-" if value != value else f"{value:.0f}" if column in {"runs", "sound runs"} else f"{value:.2f}"  # noqa: PLR0124 - NaN


def reliability(truth: npt.NDArray[np.bool_], p: Floats) -> dict[str, dict[str, float]]:
    """What was said and what happened, in tenths."""
    place = np.minimum((p * 10).astype(int), 9)
    parts = {f"{i * 10} to {i * 10 + 10} %": place == i for i in range(10)}
    return {
        name: {"runs": int(k.sum()), "said": float(p[k].mean()), "happened": float(truth[k].mean())} for name, k in parts.items() if k.any()
    }


def said_and_happened(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, float]]]:
    """Reliability of the verdict that is given, and of going on."""
    before = [r for r in rows if r["cut"] == 0.5 and r["answer"].get("p") is not None]
    pays, p = np.array([r["part"]["continue_pays"] for r in before], bool), np.array([r["answer"]["p"] for r in before])
    return {
        "verdict": reliability(np.array([r["verdict"] for r in rows]), np.array([r["top"] for r in rows])),
        "going on": reliability(pays, p),
    }


def acted(row: Row) -> float:
    """Steps of the training that the fault had acted by the cut."""
    return float(row["acted"]) * trained(row)


def trained(row: Row) -> float:
    """Steps of the training, which a log may count as environment steps."""
    return float(row["label"]["trained"])
