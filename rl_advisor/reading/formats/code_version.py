"""Which code a run was started with: the commit in W&B's metadata or a text file, uncommitted changes in a diff, installed packages.

No metric and no setting of training: keys begin with ``code.``. Of W&B's metadata no address and no host is taken.
"""

import re
from pathlib import Path

from rl_advisor.reading.parsing.bytes_in import bare_name, document
from rl_advisor.reading.parsing.request import WHOLE, Request
from rl_advisor.run import Named, Run

FORMAT = "code_version"
BESIDE = True
"""Says how a run was set up, and is none."""
SIZE_LIMIT = 4_000_000
_METADATA = r"wandb-metadata\.json"
_TEXTS = (
    (_METADATA, "commit", r'"commit"\s*:\s*"([0-9a-f]{7,64})"'),
    (_METADATA, "program", r'"program"\s*:\s*"(?:[^"\n]{0,400}/)?([\w .+@-]{1,120})"'),
    (_METADATA, "python", r'"python"\s*:\s*"([\w .+@/-]{1,120})"'),
    (_METADATA, "gpu", r'"gpu"\s*:\s*"([\w .+@/-]{1,120})"'),
    (r"git[_-]?(?:commit|hash|sha|rev)\w{0,10}\.txt", "commit", r"\A[\s\S]{0,1000}?\b([0-9a-f]{7,64})\b"),
)
"""A file's name, what is told, and where it stands."""
_COUNTS = (
    (r"[\w-]{0,40}\.(?:diff|patch)", "uncommitted_lines", r"(?m)^(?:\+(?!\+\+)|-(?!--))"),
    (r"requirements(?:-frozen)?\.txt", "packages", r"(?m)^[^#\s]"),
)
"""A file's name, what is counted, and by which mark."""


def claims(path: Path, _: Request = WHOLE) -> bool:
    """Whether the name is one of those."""
    return any(re.fullmatch(f"(?i){name}", bare_name(path)) for name, *_ in (*_TEXTS, *_COUNTS))


def read(path: Path, _: Request = WHOLE) -> Run:
    """What the file says of the code."""
    text, called = document(path, SIZE_LIMIT).decode("utf-8", "replace"), bare_name(path)
    found: Named = {f"code.{key}": told[1] for name, key, mark in _TEXTS if re.fullmatch(name, called) and (told := re.search(mark, text))}
    found |= {f"code.{key}": len(re.findall(mark, text)) for name, key, mark in _COUNTS if re.fullmatch(name, called)}
    return Run(config=found)
