"""Makes the set: ``python -m evals.proving_ground.make FOLDER --blocks 50``; goes on where it was interrupted.

Leaves ``FOLDER/block-*.npz`` (what happened), ``FOLDER/runs/<name>/`` (what a stranger would find) and ``FOLDER/labels.json``.
"""

import argparse
import gzip
import io
import json
import os
import tarfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from evals.proving_ground import logs, plans, truth
from evals.proving_ground.training import path_of, trained_to


def one(folder: Path, seed: int, number: int, layout: plans.Layout) -> tuple[int, float, str]:
    """A block by its number: how many runs were made for it, in how many seconds of a processor, and what it is."""
    block = plans.block(seed, number, layout)
    there, began = path_of(folder, block).exists(), time.process_time()
    trained_to(folder, block)
    return 0 if there else len(block.runs), time.process_time() - began, f"{block.task} {block.learner} {block.shape}, {block.steps} steps"


def make(folder: Path, seed: int, numbers: range, workers: int, layout: plans.Layout = plans.PAIRS) -> None:
    """All blocks of these numbers, with a line of progress for each."""
    folder.mkdir(parents=True, exist_ok=True)
    done, spent = 0, 0.0
    with ProcessPoolExecutor(workers, initializer=os.nice, initargs=(19,)) as pool:
        asked = [pool.submit(one, folder, seed, number, layout) for number in numbers]
        for i, answer in enumerate(as_completed(asked), 1):
            runs, seconds, what = answer.result()
            done, spent = done + runs, spent + seconds * (runs > 0)
            rate = done / max(spent, 1e-9) * 60
            print(f"{i}/{len(asked)} blocks, {done} runs made, {rate:.0f} a minute of a processor; last: {what}", flush=True)


def write(folder: Path) -> int:
    """Logs and labels of every block that is there, as a corpus; how many runs."""
    labels = {}
    for path in sorted(folder.glob("block-*.npz")):
        data = np.load(path)
        specs = json.loads(str(data["specs"]))
        for i, (spec, told) in enumerate(zip(specs, truth.of_block(data, specs), strict=True)):
            made = log(folder / "runs" / spec["name"], data, spec, i)
            labels[spec["name"]] = on_axis(told, made) | {"convention": made.convention.name, "eval_visible": bool(made.evaluations)}
            labels[spec["name"]]["trained"] = spec["steps"]
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    return len(labels)


def on_axis(told: dict[str, Any], made: logs.View) -> dict[str, Any]:
    """The label with its steps as the log counts them."""
    per = made.planned // told["steps"]

    def scaled(part: dict[str, Any]) -> dict[str, Any]:
        return part | {n: part[n] * per for n in ("steps", "cut", "best_step", "injected_at") if part.get(n) is not None}

    cuts = {share: scaled(cut) for share, cut in told["cuts"].items()}
    return scaled(told) | {"cuts": cuts, "truth": [[at * per, value] for at, value in told["truth"]]}


def log(place: Path, data: Any, spec: dict[str, Any], i: int) -> logs.View:
    """What of the run of that number is logged; its files lie in ``place`` then."""
    own = np.random.default_rng([spec["seed"], zlib.crc32(spec["name"].encode())])
    rng = np.random.default_rng([spec["seed"], zlib.crc32(spec["group"].encode())]) if spec.get("alike") else own
    seen = {"at": data["moments"], "score": data["seen"][i].astype(np.float64), "length": data["length"][i].astype(np.float64)}
    made = logs.view(rng, own, spec, data["names"].tolist(), data["metrics"][i].astype(np.float64), seen)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in logs.written(made).items():
        (place / name).write_text(text, encoding="utf-8")
    return made


def pack(folder: Path, count: int, file: Path) -> None:
    """So many runs and their labels as one archive, drawn by their names, the same for the same runs."""
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    chosen = sorted(sorted(labels, key=lambda name: zlib.crc32(name.encode()))[:count])
    with file.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        add(archive, "labels.json", json.dumps({name: labels[name] for name in chosen}))
        for path in (path for name in chosen for path in sorted((folder / "runs" / name).iterdir())):
            add(archive, path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8"))


def add(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Puts a text into an archive, without owner and date."""
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    archive.addfile(entry, io.BytesIO(text.encode()))


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--blocks", type=int, default=50)
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--kin", action="store_true", help="six sound runs a group and four broken a little, for judging against one's own")
    asked.add_argument("--sample", type=Path, help="also pack 200 runs into this archive")
    given = asked.parse_args()
    make(given.folder, given.seed, range(given.first, given.first + given.blocks), given.workers, plans.KIN if given.kin else plans.PAIRS)
    print(f"{write(given.folder)} runs written and labeled")
    if given.sample:
        pack(given.folder, 200, given.sample)
