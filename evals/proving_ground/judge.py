"""Asks the built-in advisor about the runs: ``python -m evals.proving_ground.judge FOLDER [--part test|dev] [--cut SHARE]...``.

Leaves ``FOLDER/answers.jsonl``, one line a run and cut, and ``FOLDER/features.parquet``: the same with what the judge weighed and the label.
Goes on where it stopped; answers are those of one version of the code, so that another version needs another ``--answers``.
"""

import argparse
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from evals.proving_ground.truth import SOUND
from rl_advisor.finding import VERDICTS

ASKED = (0.5, 1.0)


def answer(job: tuple[str, float, float]) -> dict[str, Any]:
    """What the advisor says of a run as it looked at a step, and what it weighed."""
    from rl_advisor.judgement.case import open_case
    from rl_advisor.reading import read_run

    folder, share, step = job
    told: dict[str, Any] = {"run": Path(folder).name, "cut": share}
    try:
        run = read_run(Path(folder)).until(step)
    except Exception as error:  # noqa: BLE001 - a run that cannot be read is an answer, too
        return told | {"verdict": "undecidable", "call": "undecided", "p": None, "link": "none", "error": str(error)[:200]}
    case = open_case(run)
    return told | judged(case) | weighed(case)


def judged(case: Any) -> dict[str, Any]:
    """The answers that are scored."""
    from rl_advisor.judgement import checkpoint, continuation, verdict
    from rl_advisor.tools.advisors.builtin import broken_link

    found = verdict.judge(case)
    ahead = continuation.continuation(case, found)
    best = checkpoint.best_checkpoint(case, reward_trusted=found.verdict != "reward_hacking")
    odds = getattr(found, "probabilities", None) or {found.verdict: 1.0}
    return {
        "verdict": found.verdict, "probabilities": {name: round(float(p), 4) for name, p in odds.items()}, "p": round(float(ahead.p), 4),
        "call": continuation.call(case, found, ahead)[0], "link": broken_link(case, found), "best_step": best.step,
        "onset": found.cause.onset.step if found.cause is not None and found.cause.onset else None,
    }  # fmt: skip


def weighed(case: Any) -> dict[str, Any]:
    """What the judge weighs: amounts of the outcome, facts of going on, what each detector found, and what that and the context speak for."""
    from rl_advisor.judgement import evidence, going_on, verdict

    amounts = case.performance.amounts() or {}
    pieces = [*evidence.found(case), *evidence.context(case)]
    facts = going_on.facts(case, verdict.judge(case).probabilities) or {}
    curve = case.outcome
    return {
        "amounts": {name: round(float(value), 5) for name, value in amounts.items()},
        "facts": {name: round(float(value), 5) for name, value in facts.items()},
        "said": {v: round(sum(piece.speaks[v] for piece in pieces), 4) for v in VERDICTS},
        "found": {name: finding.outcome.value for name, finding in case.findings.items()},
        "recent_best": bool(curve is not None and curve.best_step >= curve.step[-1] - 0.2 * (curve.step[-1] - curve.step[0])),
    }


def jobs(folder: Path, labels: Mapping[str, Any], cuts: list[float], done: set[tuple[str, float]]) -> Iterator[tuple[str, float, float]]:
    """The runs and cuts that are still to be judged."""
    for name, label in labels.items():
        for cut in cuts:
            step = label["steps"] if cut == 1 else label["cuts"][f"{cut:g}"]["cut"]
            if (name, cut) not in done:
                yield str(folder / "runs" / name), cut, float(step)


def table(labels: Mapping[str, Any], answers: list[dict[str, Any]]) -> pd.DataFrame:
    """One row a run and cut: the label first, then every amount, fact and finding (1 present, 0 absent, NaN neither)."""
    rows = []
    for a in answers:
        label = labels[a["run"]]
        part = label if a["cut"] == 1 else label["cuts"][f"{a['cut']:g}"]
        links = part["links"] or ["none"]
        row = {"run": a["run"], "cut": a["cut"], **{n: label[n] for n in ("scenario", "split", "task", "learner", "convention", "habit")}}
        row |= {"faults": "; ".join(b["fault"] for b in label["broken"]), "verdicts": ";".join(part["verdicts"]), "links": ";".join(links)}
        row |= {"pays": part.get("continue_pays"), "gain_after": part.get("gain_after"), "sound": set(part["verdicts"]) <= SOUND}
        row |= {f"amount: {n}": v for n, v in a.get("amounts", {}).items()} | {f"fact: {n}": v for n, v in a.get("facts", {}).items()}
        row |= {f"said: {v}": w for v, w in a.get("said", {}).items()}
        row |= {f"found: {n}": {"present": 1.0, "absent": 0.0}.get(v, np.nan) for n, v in a.get("found", {}).items()}
        rows.append(row)
    made = pd.DataFrame(rows)
    small = made.select_dtypes("float64").columns.difference(["cut"])
    return made.astype(dict.fromkeys(small, np.float32))


def main() -> None:
    """Judge what is not judged yet, and write the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--part", choices=("test", "dev", "all"), default="test")
    asked.add_argument("--cut", type=float, action="append")
    asked.add_argument("--runs", type=int, help="at most so many runs, drawn by their names")
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--answers", type=Path)
    given = asked.parse_args()
    labels = json.loads((given.folder / "labels.json").read_text(encoding="utf-8"))
    part = {name: label for name, label in labels.items() if given.part in {"all", label["split"]}}
    part = dict(sorted(part.items(), key=lambda one: zlib.crc32(one[0].encode()))[: given.runs])
    path = given.answers or given.folder / "answers.jsonl"
    before = [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []
    left = list(jobs(given.folder, part, given.cut or list(ASKED), {(a["run"], a["cut"]) for a in before}))
    with path.open("a", 1, encoding="utf-8") as file, Pool(given.workers, initializer=os.nice, initargs=(15,)) as pool:
        for i, told in enumerate(pool.imap_unordered(answer, left, chunksize=4), 1):
            file.write(json.dumps(told) + "\n")
            before.append(told)
            if i % 200 == 0:
                print(f"{i}/{len(left)} judged", flush=True)
    table(labels, [a for a in before if a["run"] in labels]).to_parquet(path.with_name("features.parquet"), index=False)


if __name__ == "__main__":
    main()
