"""How a file is written: beside its place, then moved there; a kill or a full disk leaves the old one, and no link is followed."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def put(path: str | Path, content: str | bytes) -> Path:
    """The path, which now holds the content; a link that stood there is replaced, not followed.

    Raises:
        OSError: it cannot be written there; what stood there is as it was.
    """
    target = Path(path)
    # A name that nobody can foresee, opened only if nothing has it: who plants a link there has guessed a hundred bits.
    number, beside = tempfile.mkstemp(prefix=f".{target.name[:80]}.", dir=target.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.umask(mask := os.umask(0o077))
        Path(beside).chmod(0o666 & ~mask)
        Path(beside).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise
    return target
