"""What packed files hold, bounded: in bytes that come out, and in parts that hold nothing."""

import io
import zlib
from pathlib import Path
from typing import IO, Any, cast

from rl_advisor.reading.parsing import confined_files

MOST_PACKED, _PACKED_FROM = 200, 1 << 26
"""Times its size to which a packed file may unpack, and the unpacked bytes from which that is asked; logs reach thirty."""
MOST_MEMBERS = 100_000
"""Parts of one gzip file: each costs, also one that holds nothing."""
PACK_ERRORS = (OSError, EOFError, zlib.error)
"""What a torn or damaged packed file raises."""
_PIECE = 1 << 14
_BUFFER = 1 << 17


class _Below(io.RawIOBase):
    """Something to be read that lies in an opened file, which is closed with it."""

    _file: IO[bytes]

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def close(self) -> None:
        """Close the file below, too."""
        self._file.close()
        super().close()


class _Members(_Below):
    """What the members of a gzip file hold, one behind the other; zeros between them are filling."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._count, self._engine = file, 0, zlib.decompressobj(31)

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; 0 at the end.

        Raises:
            OSError, EOFError, zlib.error: it is torn, damaged, or has more members than any log.
        """
        while data := self._packed():
            out = self._engine.decompress(data, len(buffer))
            if out:
                buffer[: len(out)] = out
                return len(out)
        return 0

    def _packed(self) -> bytes:
        """The next bytes to unpack, of the next member where one is over."""
        if not self._engine.eof:
            data = self._engine.unconsumed_tail or self._file.read(_PIECE)
            if not data:
                raise EOFError("it ends too early")
            return data
        data = self._engine.unused_data.lstrip(b"\0")
        while not data and (piece := self._file.read(_PIECE)):
            data = piece.lstrip(b"\0")
        if data:
            self._count, self._engine = self._count + 1, zlib.decompressobj(31)
            if self._count > MOST_MEMBERS:
                raise OSError(f"it has more than {MOST_MEMBERS:,} parts")
        return data


class _Bounded(_Below):
    """What a packed file holds, until it has become more than any log is packed to."""

    def __init__(self, file: IO[bytes], path: Path, times: int) -> None:
        self._file, self._came, self._times = file, 0, times
        self._most = max(_PACKED_FROM, times * path.stat().st_size)

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; 0 at the end.

        Raises:
            OSError: it unpacks to more than a log does.
        """
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._came += size
        if self._came > self._most:
            raise OSError(f"it unpacks to more than {self._times} times its size")
        return int(size)


def unzipped(path: Path, times: int = MOST_PACKED) -> IO[bytes]:
    """What a gzip file holds, as long as it is at most so many times its size; reading raises ``PACK_ERRORS``."""
    members = cast("IO[bytes]", _Members(confined_files.opened(path, _BUFFER)))
    return io.BufferedReader(_Bounded(members, path, times), _BUFFER)


def from_zstd(file: IO[bytes], path: Path) -> IO[bytes]:
    """What an opened zstd file holds, bounded in the same way."""
    import pyarrow as pa

    return io.BufferedReader(_Bounded(pa.CompressedInputStream(pa.PythonFile(file), "zstd"), path, MOST_PACKED), _BUFFER)
