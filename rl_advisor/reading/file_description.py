"""What a file looks like from outside, for who asks why it was refused: its names, sizes, first and last lines; bounded, never obeyed."""

from pathlib import Path

from rl_advisor.output.wording import listed
from rl_advisor.reading.parsing import confined_files
from rl_advisor.reading.parsing.bytes_in import bare_name, head, plain_text
from rl_advisor.reading.parsing.csv_in import layout_of
from rl_advisor.reading.parsing.unpacked import PACK_ERRORS

MOST_NAMES, LONGEST_LINE, LONGEST_NAME = 30, 160, 60
_LOOKED_AT = 65_536


def shape_of(path: Path) -> list[str]:
    """Lines that say what kind of file it is and what stands in it; empty for one that cannot be opened."""
    try:
        start = head(path, _LOOKED_AT)
    except PACK_ERRORS:
        return []
    if not start or b"\0" in start[:4_096]:
        return [f"binary, beginning with {start[:8].hex(' ')}" if start else "empty"]
    names = layout_of(path).names if bare_name(path).endswith((".csv", ".tsv")) else ()
    columns = [f"columns: {listed([name[:LONGEST_NAME] for name in names], MOST_NAMES)}"] if names else []
    return [*columns, *_ends(path, start)]


def _ends(path: Path, start: bytes) -> list[str]:
    """The first and the last lines."""
    first = [line for line in start.decode("utf-8", "replace").splitlines() if line.strip()][:3]
    with confined_files.opened(path) as file:
        file.seek(max(0, path.stat().st_size - 4_096))
        end = file.read(4_096)
    packed = bare_name(path) != path.name.lower()
    last = [] if packed else [line for line in end.decode("utf-8", "replace").splitlines() if line.strip()][-2:]
    lines = [f"begins: {plain_text(line)[:LONGEST_LINE]}" for line in first]
    return lines + [f"ends: {plain_text(line)[:LONGEST_LINE]}" for line in last if line not in first]
