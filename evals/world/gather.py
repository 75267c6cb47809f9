"""Takes the logs of training runs out of copies of public repositories: ``python -m evals.world.gather FOLDER PART GIT_DIRECTORY...``.

A git directory is named ``OWNER+NAME/…``. Files with the names that trainers give to logs come to ``FOLDER/PART/OWNER__NAME``, at most
RUNS folders of a repository (evenly chosen), and ``FOLDER/sources.jsonl`` gets a row for each, so that ``evals.world.build`` measures it.
Nothing is checked out and nothing is run.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np

LOGS = re.compile(
    r"(?:evaluations\.npz|(?:\d+\.)?monitor\.csv|progress\.csv|trainer_state\.json|metrics\.jsonl|log_history\.json|events\.out\.tfevents.*)"
)
RUNS = 12
LARGEST = 30_000_000
LICENCES = {"MIT License": "MIT", "Apache License": "Apache-2.0", "GNU GENERAL": "GPL", "BSD": "BSD", "Mozilla": "MPL-2.0"}


def git(directory: Path, *asked: str) -> bytes:
    """What git prints."""
    return subprocess.run(["git", f"--git-dir={directory}", *asked], capture_output=True, check=True, timeout=120).stdout  # noqa: S603, S607


def runs(directory: Path) -> dict[str, list[str]]:
    """Folders of the newest commit that hold logs, and the logs in them; of a run's checkpoints the last one's."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in git(directory, "ls-tree", "-r", "-l", "HEAD").decode(errors="replace").splitlines():
        size, path = line.split(maxsplit=3)[3].split("\t", 1)
        at = PurePosixPath(path)
        if LOGS.fullmatch(at.name) and size.isdigit() and int(size) <= LARGEST:
            saved = at.parent.name.startswith("checkpoint-")
            found[str(at.parent.parent if saved else at.parent)].append(path)
    for paths in found.values():
        states = sorted((p for p in paths if p.endswith("trainer_state.json")), key=lambda p: [int(n) for n in re.findall(r"\d+", p)])
        paths[:] = [p for p in paths if p not in states[:-1]]
    chosen = np.linspace(0, len(found) - 1, min(RUNS, len(found))).astype(int)
    return {name: found[name] for name in (sorted(found)[i] for i in chosen)}


def licence(directory: Path) -> str | None:
    """The licence by the first lines of its file."""
    names = git(directory, "ls-tree", "--name-only", "HEAD").decode(errors="replace").splitlines()
    for name in (n for n in names if n.upper().startswith(("LICENSE", "LICENCE", "COPYING"))):
        text = git(directory, "show", f"HEAD:{name}")[:400].decode(errors="replace")
        return next((short for words, short in LICENCES.items() if words in text), "other")
    return None


def taken(folder: Path, part: str, directory: Path) -> Iterator[dict[str, str | None]]:
    """Writes the logs of a repository below the folder and gives a row a run."""
    owner = next(p for p in directory.parts if "+" in p).replace("+", "__", 1)
    commit, told = git(directory, "rev-parse", "HEAD").decode().strip(), licence(directory)
    for run, paths in runs(directory).items():
        for path in paths:
            at = (folder / part / owner / path).resolve()
            if at.is_relative_to((folder / part / owner).resolve()):
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_bytes(git(directory, "show", f"HEAD:{path}"))
        yield {"path": f"{part}/{owner}" if run == "." else f"{part}/{owner}/{run}", "commit": commit, "licence": told}


def main(folder: Path, part: str, directories: list[Path]) -> None:
    """Takes all and says how many runs each repository has."""
    with (folder / "sources.jsonl").open("a", encoding="utf-8") as out:
        for directory in directories:
            rows = list(taken(folder, part, directory / ".git" if (directory / ".git").is_dir() else directory))
            out.writelines(json.dumps(row) + "\n" for row in rows)
            print(f"{len(rows):3} {directory}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]])
