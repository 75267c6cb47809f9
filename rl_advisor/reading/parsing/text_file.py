"""A text in memory that reads like a file, so that formats look at what was pasted without anything being written to a disk."""

import io
import os
import stat
from pathlib import Path
from typing import IO, Any

NOWHERE = Path("/nonexistent/pasted")
"""Where such files seem to lie: nothing is beside them."""


class TextFile(type(NOWHERE)):  # type: ignore[misc]
    """A path whose content is held in memory; paths derived from it are plain ones."""

    content: bytes | None = None

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> IO[Any]:
        """The content for reading, as bytes or as text."""
        if self.content is None:
            return super().open(mode, *args, **kwargs)  # type: ignore[no-any-return]
        raw = io.BufferedReader(io.BytesIO(self.content))
        return raw if "b" in mode else io.TextIOWrapper(raw, encoding="utf-8", errors="replace")

    def stat(self, **kwargs: Any) -> os.stat_result:
        """A regular file of the content's size."""
        if self.content is None:
            return super().stat(**kwargs)  # type: ignore[no-any-return]
        return os.stat_result((stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, len(self.content), 0, 0, 0))


def text_file(name: str, text: str) -> Path:
    """A file of that name with that text, in memory."""
    file = TextFile(NOWHERE / name)
    file.content = text.encode("utf-8", "replace")
    return file
