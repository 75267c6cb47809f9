"""Whether every number that was read from a text stands in it, and every name: what the test in the suite and the long one share."""

import math
import random
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rl_advisor.reading import part_of
from rl_advisor.reading.parsing.bytes_in import ANSI
from rl_advisor.run import Run

from mutating import mutated

TOKEN = re.compile(r"[-+]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
BESIDE = re.compile(r", (?:number \d+|spread|percent)$|^c\d+$")
"""What a number next to a named one, or one that stands under no name, is called by its place: no word of the text."""
COUNTED = {"dict_console"}
"""Formats whose steps are those between two that a progress bar shows, and whose rows a terminal may have wrapped inside a number."""
LATER = {"areal_console"}
"""Formats whose steps are one less than what is printed, as their trackers count."""


def numbers_in(text: str) -> set[float]:
    """Every number that a reader could mean by the digits of a text, whichever mark stands between its thousands."""
    found = {float(f"{digits}e{3 if letter in 'kK' else 6}") for digits, letter in re.findall(r"(?<!\d)(\d+(?:\.\d+)?)([kKM])\b", text)}
    for token in TOKEN.findall(text):
        for start in (token, token.lstrip("+-")):
            for way in (start, start.replace(",", ""), *start.split(","), start.replace("_", ""), start.rstrip(".,")):
                try:
                    found.add(float(way))
                except ValueError:
                    continue
    return found


def invented(text: str, run: Run) -> Iterator[str]:
    """What the run holds and the text does not: values, steps, names (which a terminal may have wrapped)."""
    plain = ANSI.sub("", text)
    there, dense = numbers_in(plain), "".join(plain.split())
    if COUNTED & set(run.formats):
        there |= numbers_in("".join(plain.splitlines()))
    nan = re.search(r"(?i)nan|none", plain) is not None
    for curve in run.curves.values():
        for value in curve.value.tolist():
            known = nan if math.isnan(value) else value in there or (math.isinf(value) and ("inf" in plain.lower() or "e" in plain.lower()))
            if not known:
                yield f"{curve.raw}: {value}"
        if run.axis == "step" and not COUNTED & set(run.formats):
            late = float(bool(LATER & set(run.formats)))
            yield from (f"step {step} of {curve.raw}" for step in curve.step.tolist() if step + late not in there)
        if any(word not in dense for word in re.split(r"[/\s]+", BESIDE.sub("", curve.raw))):
            yield f"name {curve.raw}"


def unheard(data: bytes, run: Run) -> Iterator[str]:
    """Values of curves that stand in the bytes in no form: as text, as a number of four or eight bytes, as a whole number.

    Values are those of a format, before rows of one step are drawn together. What is packed or averaged while it is read (arrays, Parquet)
    cannot be found in this way and is left out.
    """
    plain = ANSI.sub("", data.decode("utf-8", "replace"))
    there = numbers_in(plain)
    if COUNTED & set(run.formats):
        there |= numbers_in("".join(plain.splitlines()))
    for curve in run.curves.values():
        for value in set(curve.value[np.isfinite(curve.value)].tolist()) - there:
            if not any(form in data for form in _forms(value)):
                yield f"{curve.raw}: {value}"


def _forms(value: float) -> Iterator[bytes]:
    yield struct.pack("<d", value)
    yield struct.pack(">d", value)
    if abs(value) < 3e38:
        yield struct.pack("<f", value)
    if value.is_integer() and abs(value) < 2**63:
        yield int(value).to_bytes(((int(value).bit_length() + 8) // 8), "big", signed=True)


def read_of(folder: Path, name: str, data: bytes) -> tuple[str, Run | None]:
    """The text of a log and what its format reads of it, None where none claims it."""
    path = folder / name
    path.write_bytes(data)
    return data.decode("utf-8", "replace").replace("\r\n", "\n"), part_of(path)


def damaged_logs(logs: list[tuple[str, bytes]], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """So many logs of these, damaged, in an order that the seed decides."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(count):
        name, data = dice.choice(logs)
        yield name, mutated(data, dice)
