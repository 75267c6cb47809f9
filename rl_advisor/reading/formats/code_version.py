"""Which code a run was started with: the commit in W&B's metadata or a text file, uncommitted changes in a diff, installed packages.

No metric and no setting of training: keys begin with ``code.``.
"""

import re
from pathlib import Path
from typing import Any

from rl_advisor.reading.parsing.bytes_in import bare_name, document, json_object
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Run

FORMAT = "code_version"
BESIDE = True
"""Says how a run was set up, and is none."""
SIZE_LIMIT = 4_000_000
_NAME = re.compile(
    r"(?i)wandb-metadata\.json|[\w-]{0,40}\.(?:diff|patch)|requirements(?:-frozen)?\.txt|git[_-]?(?:commit|hash|sha|rev)\w{0,10}\.txt"
)
_COMMIT = re.compile(r"\b[0-9a-f]{7,64}\b")
_WORD = re.compile(r"[\w .+@/-]{1,120}")


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is one of those."""
    return _NAME.fullmatch(bare_name(path)) is not None


def read(path: Path, _: Request = WHOLE) -> Run:
    """What the file says of the code."""
    found = _of(path.name.lower(), document(path, SIZE_LIMIT).decode("utf-8", "replace"))
    return Run(config={f"code.{name}": value for name, value in found.items()}, formats=(FORMAT,))


def _of(name: str, text: str) -> dict[str, Any]:
    if name.endswith(".json"):
        return _metadata(json_object(text))
    rows = text.splitlines()
    if name.endswith((".diff", ".patch")):
        return {"uncommitted_lines": sum(row[:1] in ("+", "-") and row[:3] not in ("+++", "---") for row in rows)}
    if name.startswith("requirements"):
        return {"packages": sum(bool(row.strip()) and not row.startswith("#") for row in rows)}
    commit = _COMMIT.search(text[:1000])
    return {"commit": commit[0]} if commit else {}


def _metadata(told: dict[str, Any]) -> dict[str, Any]:
    """Of W&B's metadata the commit, the program's name, Python and the GPU; no address and no host."""
    git: Any = told.get("git")
    git = git if isinstance(git, dict) else {}
    rows = {
        "commit": git.get("commit"),
        "program": Path(str(told.get("program") or "")).name,
        "python": told.get("python"),
        "gpu": told.get("gpu"),
    }
    return {name: value for name, value in rows.items() if isinstance(value, str) and _WORD.fullmatch(value)}
