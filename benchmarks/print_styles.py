"""How much of a table comes back, however it was printed: known tables in styles that a grammar draws, read and compared.

``python benchmarks/print_styles.py [--files 2000] [--seed 0] [--held] [--misses N]``. Each production of the grammar has choices of which a
third are held out: they are drawn only with ``--held``, which is not looked at while the reading is worked on. Printed are the share of the
values that come back in their order, the files in which a number stands that was not printed, and those that were refused.
"""

import argparse
import json
import math
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rl_advisor.reading import UnreadableRun, read_run

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from inventing import numbers_in  # noqa: E402

GRAMMAR: dict[str, list[str]] = {
    "form": ["pairs", "delimited", "block", "json", "pairs", "boxed", "bar", "literal", "aligned", "pairs", "words", "markdown"],
    "pair": ["{n}: {v}", "{n}={v}", "{n} = {v}", "{n} {v}", "{n}:{v}", "{n} -> {v}", "'{n}': {v}", "{n}: {v}%", "{n} : {v}"],
    "between": [", ", " | ", " - ", "  ", "; ", "\t", " || ", ",", " · "],
    "cells": [",", ";", "\t", " ", ", ", "  "],
    "count": [
        "Episode {i}",
        "step {i}",
        "[{i}/{t}]",
        "Epoch {i}/{t}",
        "Iter: {i}",
        "{i}",
        "it {i}:",
        "Update #{i}",
        "Game {i} of {t}",
        "回合 {i}",
    ],
    "opening": ["", "", ": ", " | ", " - ", " "],
    "prefix": ["", "", "2026-01-0{d} 10:{mm}:{ss},123 - INFO - ", "[trainer] ", "(worker pid=812) ", "INFO:root:", "[10:{mm}:{ss}] ", "> "],
    "names": ["plain", "slashes", "words", "caps", "short", "foreign"],
    "digits": ["2", "3", "6", "e", "mixed", "0"],
    "noise": ["", "", "saved model to out/ckpt\n", "\n", "WARNING: the buffer is nearly full\n", "====================\n"],
    "ends": ["\n", "\n", "\r\n"],
    "dress": ["", "", "colours", "bom"],
    "nan": ["", "", "", "nan", "NaN"],
    "file": ["train.log", "out.txt", "history.csv", "log", "results.dat", "stdout.out", "scores.txt", "run1.log"],
}
NAMES = {
    "plain": ["reward", "loss", "entropy", "kl", "length", "wins"],
    "slashes": ["train/reward", "train/loss", "eval/score", "policy/entropy", "time/fps", "rollout/len"],
    "words": ["mean reward", "policy loss", "win rate", "episode length", "avg score", "value loss"],
    "caps": ["Reward", "Loss", "EpLen", "WinRate", "Score", "KL"],
    "short": ["ret", "vf", "ent", "acc", "sr", "lr"],
    "foreign": ["Belohnung", "Verlust", "récompense", "perte", "奖励", "损失"],
}


@dataclass
class Printed:
    """A table, how it was printed, and the text."""

    style: dict[str, str]
    columns: dict[str, list[float]] = field(default_factory=dict)
    text: str = ""


def choices(name: str, *, held: bool) -> list[str]:
    """What may be drawn: without ``held`` two thirds of the choices."""
    every = GRAMMAR[name]
    return every if held else [choice for i, choice in enumerate(every) if i % 3 != 2 or choice in every[:2]]


def drawn(dice: random.Random, *, held: bool) -> Printed:
    """A table in a style."""
    while True:
        style = {name: dice.choice(choices(name, held=held)) for name in GRAMMAR}
        if not held or any(style[name] not in choices(name, held=False) for name in GRAMMAR):
            break
    table = Printed(style)
    names = dice.sample(NAMES[style["names"]], dice.randint(1, 5))
    size, pace = dice.randint(6, 40), dice.choice([1, 1, 10, 250])
    texts = [[_number(dice, style) for _ in range(size)] for _ in names]
    table.columns = {name: [float(text) for text in column] for name, column in zip(names, texts, strict=True)}
    table.text = _printed(dice, style, names, [pace * (i + 1) for i in range(size)], list(zip(*texts, strict=True)))
    return table


def _number(dice: random.Random, style: dict[str, str]) -> str:
    if style["nan"] and dice.random() < 0.05:
        return style["nan"]
    value = dice.gauss(0, 1) * dice.choice([1, 10, 100])
    kind = dice.choice(["2", "4", "e"]) if style["digits"] == "mixed" else style["digits"]
    return f"{value:.3e}" if kind == "e" else f"{value:.{kind}f}"


def _printed(dice: random.Random, style: dict[str, str], names: Sequence[str], steps: Sequence[int], rows: Sequence[Sequence[str]]) -> str:
    out = "\ufeff" if style["dress"] == "bom" else ""
    out += _head(style, names)
    whole = style["form"] in ("delimited", "aligned", "markdown", "bar")
    for at, (step, row) in enumerate(zip(steps, rows, strict=True)):
        line = Line(names, row, step, steps[-1], at)
        text = _table_row(style, line) or _log_line(style, line)
        if style["dress"] == "colours" and style["form"] in ("pairs", "words"):
            text = text.replace(row[0], f"\x1b[32m{row[0]}\x1b[0m", 1)
        out += text + (style["noise"] if not whole and dice.random() < 0.3 else "")
    return out.replace("\n", style["ends"])


def _head(style: dict[str, str], names: Sequence[str]) -> str:
    if style["form"] == "delimited" and (mark := style["cells"].strip(" ")):
        return mark.join(["step", *(n.replace(" ", "_") for n in names)]) + "\n"
    if style["form"] == "aligned":
        return "".join(f"{n:>18}" for n in ("step", *names)) + "\n"
    return f"| step | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}\n" if style["form"] == "markdown" else ""


@dataclass(frozen=True)
class Line:
    """One row: its names and numbers, its count and the last count, and the how-manyth it is."""

    names: Sequence[str]
    row: Sequence[str]
    step: int
    total: int
    at: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names with their numbers."""
        return list(zip(self.names, self.row, strict=True))


def _table_row(style: dict[str, str], line: Line) -> str:
    """The row of a table; '' for a form that has none."""
    cells = [str(line.step), *line.row]
    boxed = "".join(f"| {n:<20} | {v:<12} |\n" for n, v in (("total_timesteps", str(line.step)), *line.pairs))
    return {
        "delimited": style["cells"].join(cells) + "\n",
        "aligned": "".join(f"{v:>18}" for v in cells) + "\n",
        "markdown": f"| {' | '.join(cells)} |\n",
        "boxed": f"{'-' * 39}\n{boxed}{'-' * 39}\n",
    }.get(style["form"], "")


def _log_line(style: dict[str, str], line: Line) -> str:
    """What a program logs of a row."""
    form = style["form"]
    prefix = style["prefix"].format(d=1 + line.at % 9, mm=f"{line.at // 60:02d}", ss=f"{line.at % 60:02d}")
    count = style["count"].format(i=line.step, t=line.total)
    pairs = [style["pair"].format(n=n, v=v) for n, v in line.pairs]
    if form == "block":
        return f"{prefix}{count}\n" + "".join(f"{prefix}  {pair}\n" for pair in pairs)
    if form in ("json", "literal"):
        values = {"step": line.step, **{n: float(v) for n, v in line.pairs}}
        return prefix + (json.dumps(values, ensure_ascii=False) if form == "json" else str(values)) + "\n"
    if form == "bar":
        share, postfix = 100 * line.step // line.total, ", ".join(f"{n}={v}" for n, v in line.pairs)
        return f"train:  {share}%|###   | {line.step}/{line.total} [00:0{line.at % 9}<00:10,  1.2it/s, {postfix}]\n"
    if form == "words":
        return f"{prefix}{count}{style['opening'] or ' '}" + " ".join(f"{n} {v}" for n, v in line.pairs) + "\n"
    return f"{prefix}{count}{style['opening'] or style['between']}" + style["between"].join(pairs) + "\n"


def judged(table: Printed, folder: Path) -> tuple[int, int, list[float]] | None:
    """Values that came back, all values, and those that were never printed; None for a file that was refused."""
    path = folder / table.style["file"]
    path.write_bytes(table.text.encode())
    try:
        run = read_run(path)
    except UnreadableRun:
        return None
    read = [c.value.tolist() for c in run.curves.values()]
    wanted = list(table.columns.values())
    back = sum(max((_matched(values, found) for found in read), default=0) for values in wanted)
    there = numbers_in(table.text)
    there |= {v / 100 for v in there} | {-v for v in there}
    made = [v for found in read for v in found if math.isfinite(v) and v not in there]
    return back, sum(map(len, wanted)), made


def _matched(values: Sequence[float], found: Sequence[float]) -> int:
    """How many of the values stand in what was read, in their order; the sign may be turned."""
    a, b = np.array(values), np.array(found)
    if a.size == b.size:
        return int(max(np.isclose(a, sign * b, rtol=1e-9, equal_nan=True).sum() for sign in (1, -1)))
    return sum((Counter(a[np.isfinite(a)].tolist()) & Counter(b[np.isfinite(b)].tolist())).values())


def main() -> int:
    """Print what came back."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--files", type=int, default=2_000)
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--held", action="store_true")
    given.add_argument("--misses", type=int, default=0)
    asked = given.parse_args()
    dice = random.Random(asked.seed)  # noqa: S311 - no secret
    back = every = refused = made = 0
    lost: dict[tuple[str, str], list[float]] = defaultdict(list)
    misses: list[Printed] = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(asked.files):
            table = drawn(dice, held=asked.held)
            found = judged(table, Path(folder))
            size = sum(map(len, table.columns.values()))
            came, odd = (0, []) if found is None else (found[0], found[2])
            back, every, refused, made = back + came, every + size, refused + (found is None), made + bool(odd)
            for production in table.style.items():
                lost[production].append(1 - came / size)
            misses += [table] if came < size or odd else []
    print(f"{asked.files} files, {every:,} values: {back / every:.4f} came back, {made} files with invented numbers, {refused} refused")
    worst = sorted(lost.items(), key=lambda item: -float(np.mean(item[1])))[:12]
    print("most is lost by " + "; ".join(f"{name} {choice!r} {np.mean(shares):.3f}" for (name, choice), shares in worst))
    for table in misses[: asked.misses]:
        print(table.style["form"], json.dumps({k: table.style[k] for k in ("pair", "between", "count", "prefix", "cells", "file")}))
        print(table.text[:400])
    return int(bool(made))


if __name__ == "__main__":
    sys.exit(main())
