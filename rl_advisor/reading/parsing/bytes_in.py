"""How bytes come in: the first bytes of a file, its lines, its JSON, each bounded, since a run folder may hold anything."""

import codecs
import io
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS, from_zstd, unzipped

LINE_LIMIT = 1_000_000
"""Characters of one line that are looked at; the rest of a longer line is dropped."""
LONGEST = 16 << 20
"""Longest line of JSON that is read, in bytes; a longer one counts as corrupt."""
DOCUMENT_LIMIT = 512_000_000
"""Bytes of a file that must be held in memory as a whole."""
MOST_VALUES, _MANY_FROM = 12_000_000, 8_000_000
"""Values of one JSON document, and the bytes from which they are counted."""
LONGEST_WHOLE = 18
"""Digits of a whole number; longer ones are kept as other numbers are."""
MOST_BLANK = 100_000
"""Blank lines in a row behind which nothing more is looked for."""
RECODED_LIMIT = 256_000_000
"""Bytes of a file in UTF-16 that are read."""
BUFFER = 1 << 17
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_torn: ContextVar[set[Path] | None] = ContextVar("torn", default=None)
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\[(?:\d{1,2};)*\d{1,2}m")
"""Terminal colours, with or without the escape byte (which copying a log often drops)."""
_BETWEEN = re.compile(r"[\s,]*")


def bare_name(path: Path) -> str:
    """The file's name in lower case, without the suffix of a compression."""
    name = path.name.lower()
    for suffix in (".gz", ".zst"):
        name = name.removesuffix(suffix)
    return name


def open_bytes(path: Path) -> IO[bytes]:
    """The file opened for reading bytes: unpacked when it is gzip or zstd, text in UTF-16 as UTF-8, no byte order mark."""
    file = cast("io.BufferedReader", confined_files.opened(path, BUFFER))
    start = file.peek(6)[:6]
    magic = start[:4]
    if magic.startswith(GZIP_MAGIC):
        file.close()
        return unzipped(path)
    if magic == ZSTD_MAGIC:
        return from_zstd(file, path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with file:
            raw = file.read(RECODED_LIMIT)
        return io.BufferedReader(io.BytesIO(raw.decode("utf-16", "replace").encode()))
    if start.startswith(codecs.BOM_UTF8):
        file.seek(3)
    return file


FIRST, PIECE = 1 << 16, 1 << 20
"""Bytes that are asked for at once, of lines at first: room for as many is made, however few come."""


def head(path: Path, size: int = 16_384) -> bytes:
    """The first ``size`` bytes, unpacked; fewer when the file is shorter or its packing is damaged, which is said."""
    data = bytearray()
    try:
        with open_bytes(path) as file:
            while len(data) < size and (more := cast("io.BufferedReader", file).read1(min(PIECE, size - len(data)))):
                data += more
    except PACK_ERRORS:
        say_torn(path)
    return bytes(data)


def beginning(path: Path, size: int = 16_384) -> str:
    """As ``head``, as text."""
    return head(path, size).decode("utf-8", "replace")


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends, streamed; invalid bytes are replaced, what follows LINE_LIMIT in a line is dropped."""
    for some in blocks(path):
        yield from (line[:LINE_LIMIT].rstrip("\r") for line in some)


def blocks(path: Path) -> Iterator[list[str]]:
    """As ``lines``, many at once; the first are few, so that what they show is soon known."""
    for data in _pieces(path):
        text = data.decode("utf-8", "replace")
        while "\r\n" in text:
            text = text.replace("\r\n", "\n")
        yield text.removesuffix("\r").split("\n")


def byte_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file as bytes without their ends, streamed; what follows LONGEST in a line is dropped, but for a piece of it."""
    for data in _pieces(path):
        yield from data.split(b"\n")


def _pieces(path: Path) -> Iterator[bytes]:
    """Whole lines, many at once. That a packed file is torn is said to whoever reads the file."""
    rest, size = b"", FIRST
    with open_bytes(path) as file:
        try:
            while piece := cast("io.BufferedReader", file).read1(size):
                if len(rest) > LONGEST:  # the rest of such a line is dropped
                    piece = piece[piece.find(b"\n") :] if b"\n" in piece else b""
                data, size = rest + piece, PIECE
                if len(data) > MOST_BLANK and data.isspace():
                    raise EOFError
                end = data.rfind(b"\n") + 1
                rest = data[end:]
                if end:
                    yield data[: end - 1]
        except PACK_ERRORS:
            say_torn(path)
    if rest:
        yield rest


@contextmanager
def torn_said() -> Iterator[set[Path]]:
    """While it is open, packed files that turn out to be torn or damaged are put into the set it gives."""
    torn: set[Path] = set()
    told = _torn.set(torn)
    try:
        yield torn
    finally:
        _torn.reset(told)


def say_torn(path: Path) -> None:
    """Say that a packed file ends too early or is damaged, so that only what stands before that could be read."""
    if (torn := _torn.get()) is not None:
        torn.add(path)


def document(path: Path, limit: int = DOCUMENT_LIMIT) -> bytes:
    """The whole file, unpacked.

    Raises:
        OverflowError: it is larger than ``limit``.
    """
    with open_bytes(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OverflowError(f"larger than {limit:,} bytes")
    return data


def parse_json(text: bytes | str) -> Any:
    """What a JSON text says; bare NaN and Infinity are accepted, as Python's own writer puts them, and bytes that are no UTF-8.

    Raises:
        ValueError: it is no JSON.
    """
    import orjson

    _refuse_many(text)
    try:
        return orjson.loads(text)
    except ValueError:
        try:
            told = text if isinstance(text, str) else text.decode("utf-8", "replace")
            return whole_text(json.loads(told, parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_WHOLE else float(digits)))
        except RecursionError as error:
            raise ValueError("nested too deep") from error


def json_object(text: Any) -> dict[str, Any]:
    """The object that a JSON text is; empty for anything else."""
    try:
        value = parse_json(text)
    except (ValueError, TypeError, OverflowError):
        return {}
    return value if isinstance(value, dict) else {}


def json_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Line number (from 0) and line; None for one longer than LONGEST. Blank lines count but are not given."""
    return whole_lines(byte_lines(path))


def whole_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """As ``json_lines``, of any lines; an object that is written over several lines is one, from its brace to that below."""
    part, at, size = list[bytes](), 0, 0
    for number, line in enumerate(lines):
        if part or line.rstrip() == b"{":
            at, size = (at, size + len(line)) if part else (number, len(line))
            part.append(line if size <= LONGEST else b"")
            if line[:1] == b"}":
                yield at, b"".join(part) if size <= LONGEST else None
                part = []
        elif line.strip():
            yield number, line if len(line) <= LONGEST else None
    if part:
        yield at, b"".join(part) if size <= LONGEST else None


def json_values(text: str) -> tuple[list[Any], bool]:
    """The JSON values that stand one after the other, and whether there is nothing else behind them."""
    values, decoder, at = list[Any](), json.JSONDecoder(), 0
    while (at := _BETWEEN.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return values, False
        values.append(whole_text(value))
    return values, True


def _refuse_many(text: bytes | str) -> None:
    """Raise where a text holds so many values that they would take a hundred times its bytes once they are objects."""
    marks: Any = (b",", b"{", b"[") if isinstance(text, bytes) else ",{["
    if len(text) > _MANY_FROM and sum(map(text.count, marks)) > MOST_VALUES:
        raise OverflowError(f"more than {MOST_VALUES:,} values")


def whole_text(value: Any) -> Any:
    r"""The value with half characters (a lone \ud83d of a response cut in an emoji) replaced, since nothing downstream can encode them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole_text(v) for v in value]
    if isinstance(value, dict):
        return {whole_text(k): whole_text(v) for k, v in value.items()}
    return value


def plain_text(text: str) -> str:
    """The text without terminal colours."""
    return ANSI.sub("", text) if "[" in text else text
