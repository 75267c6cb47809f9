"""Damage done to good files and senseless arguments made from schemas: what the fuzzing in the suite and the long one share."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

DATA = Path(__file__).parent / "data"
LARGEST = 40_000
WORDS = (
    *(b"NaN", b"Infinity", b"-1e999", b"1e308", b"18446744073709551616", b"-0", b"1_000", b"0x7f", b"null", b"true", b"9" * 400, b"\x00"),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"'",
        b",",
        b":",
        b"\n",
        b"\r",
        b"\t",
        b"\\",
        b"=",
        b"|",
        b"step",
        b"reward",
        b"[" * 300,
        b'{"a":' * 300,
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        "\u202e".encode(),
        b"\x1b[31m",
        b"../../../../etc/passwd",
        b"!!python/object:os.system x",
    ),
    *(b"&a [*a,*a]", b"2026-13-45T99:99:99Z", b"1969-01-01", b"999999999999999999999", b"\\ud800", b"x" * 2000, b"%s%n", b"__proto__"),
)
NASTY_TEXT = (
    *(
        "",
        " ",
        "run-01",
        "run-01/",
        "./run-01",
        "..",
        "../..",
        "/",
        "/etc/passwd",
        "/proc/self/environ",
        "~",
        "run-01\0",
        "run-01\n",
        "%2e%2e",
    ),
    *(
        "run-01/trainer_state.json",
        "run-01/completions",
        "run-01/checkpoint-100",
        "x" * 1024,
        "x" * 5000,
        "\ud800",
        "\u202eabc",
        "../doors/run-01",
    ),
    *("reward/mean", "reward", "kl/ref", "{run}", "skill://", "NaN", "null", "[]", "a" * 200, "\U0001f600" * 90, "-rf", "$(id)", "`id`"),
)
NASTY_VALUES = (
    None,
    True,
    -1,
    0,
    1,
    2,
    10,
    11,
    100,
    300,
    2**31,
    2**63,
    2**70,
    -(2**70),
    0.5,
    1e308,
    -1e308,
    1e-320,
    [],
    {},
    [[]],
    {"a": 1},
    [None],
)


MADE = (
    ("rl-advisor-fetched.json", b'{"left_out": {"size": 2, "failed": 1}, "late": true, "checkpoints": [[100, "checkpoint-100"]]}'),
    ("mlruns/0/abc/metrics/loss", b"1700000000000 0.5 1\n1700000001000 0.25 2\n"),
    ("history.json", b'{"step": [1, 2, 3, 4], "reward": [0.1, 0.2, NaN, 0.4], "loss": [4, 3, 2, 1]}'),
    ("scalars/loss.csv", b"1,0.5\n2,0.25\n3,0.125\n4,0.0625\n"),
    ("run.sh", b"#!/bin/sh\npython -m verl.trainer.main_ppo actor.lr=1e-6 data.train_batch_size=64 --seed 3 trainer.n_gpus=8\n"),
    ("train.py", b"from trl import GRPOConfig\nargs = GRPOConfig(learning_rate=1e-6, beta=0.04, num_generations=8, seed=3)\n"),
    (
        "steps.json",
        b'[{"step": 1, "prompt": "a", "response": "b c", "reward": 0.5}, {"step": 2, "prompt": "a", "response": "d", "reward": 1}]',
    ),
    (
        "train.ipynb",
        (
            b'{"cells": [{"outputs": [{"data": {"text/html": "<table><tr><th>Step</th><th>reward</th></tr><tr><td>1</td><td>0.25</td></tr>'
            b'<tr><td>2</td><td>0.5</td></tr><tr><td>3</td><td>0.75</td></tr></table>"}}, {"text": ["Episode 1, reward: 2.5\\n"]}]}]}'
        ),
    ),
    ("results.csv", b"step,reward,loss\n1,0.1,2.5\n2,0.2,\n3,0.4,1.5\n4,nan,1e3\n"),
    (
        "media/completions.table.json",
        b'{"columns": ["step", "prompt", "completion", "reward"], "data": [[1, "a", "b c", 0.5], [2, "a", "d", 1]]}',
    ),
)
"""Small files of formats of which no real one lies among the tests' data."""


def fixtures() -> list[Path]:
    """The small real files of the tests, without those for other purposes."""
    found = [p for p in DATA.rglob("*") if p.is_file() and 100 < p.stat().st_size < LARGEST * 2]
    return sorted(p for p in found if "browser" not in p.parts and "truth" not in p.parts and p.suffix not in {".sql", ".md"})


def shortened(path: Path) -> bytes:
    """A fixture's bytes; of a long text the first part, which a mutation is as likely to hit and which is read sooner."""
    data = path.read_bytes()
    return data if b"\0" in data[:4096] or path.suffix == ".json" else data[:6000]


def damaged(corpus: Sequence[tuple[str, bytes]]) -> st.SearchStrategy[tuple[str, bytes]]:
    """A name and damaged bytes of one of the files; hypothesis throws the dice, so that it can make what it finds smaller."""
    dice = st.randoms(use_true_random=False)
    return st.tuples(st.sampled_from(corpus), dice).map(lambda drawn: (drawn[0][0], mutated(drawn[0][1], drawn[1])))


def questions(schemas: Mapping[str, Any]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """A tool's name and arguments made from its schema, fitting and not."""
    dice = st.randoms(use_true_random=False)
    return st.tuples(st.sampled_from(sorted(schemas)), dice).map(lambda drawn: (drawn[0], arguments(schemas[drawn[0]], drawn[1])))


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The bytes with one to six kinds of damage."""
    for _ in range(dice.choice((1, 1, 2, 3, 6))):
        data = dice.choice(DAMAGES)(data, dice)[: LARGEST * 3]
    return data


def _flipped(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(data), dice.choice((1, 1, 4, 40)))):
        changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _without(data: bytes, dice: random.Random) -> bytes:
    begin = dice.randrange(len(data) + 1)
    return data[:begin] + data[begin + dice.choice((1, 2, 8, 100, 1000)) :]


def _with_word(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(WORDS) + data[at:]


def _other_number(data: bytes, dice: random.Random) -> bytes:
    numbers = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", data[:LARGEST]))
    if not numbers:
        return data
    at = dice.choice(numbers)
    return data[: at.start()] + dice.choice(WORDS) + data[at.end() :]


def _lines_moved(data: bytes, dice: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    if dice.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one:one] = lines[other : other + 3] * dice.choice((1, 2, 20))
    return b"\n".join(lines)


def _spliced(data: bytes, dice: random.Random) -> bytes:
    one, other = dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)
    return data[:one] + data[other : other + dice.choice((4, 64, 2000))] + data[one:]


DAMAGES = (_flipped, _cut, _without, _with_word, _other_number, _lines_moved, _spliced)


def arguments(schema: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Arguments for a tool: mostly of the right kind, often at or past a bound, sometimes of no kind that fits, missing or too many."""
    given = {name: _value(part, dice) for name, part in schema["properties"].items() if dice.random() < 0.8}
    for name in schema.get("required", ()):
        if name not in given and dice.random() < 0.9:
            given[name] = _value(schema["properties"][name], dice)
    if dice.random() < 0.05:
        given[dice.choice(NASTY_TEXT)[:50].encode("utf-8", "replace").decode()] = dice.choice(NASTY_VALUES)
    return given


def _value(schema: dict[str, Any], dice: random.Random) -> Any:
    if dice.random() < 0.1:
        return dice.choice((*NASTY_VALUES, *(t for t in NASTY_TEXT if t != "\ud800")))
    if "anyOf" in schema:
        return _value(dice.choice(schema["anyOf"]), dice)
    kind = schema.get("type")
    if kind == "array":
        return [_value(schema["items"], dice) for _ in range(dice.choice((0, 1, 2, 2, 3, 17, 30)))]
    if kind == "string":
        return "run-01" if dice.random() < 0.4 else _text(dice)
    if kind in {"integer", "number"}:
        low, high = schema.get("minimum", 0), schema.get("maximum", 400)
        return dice.choice((low, high, low - 1, high + 1, dice.uniform(low, high), dice.randint(low, high), dice.randint(low, high)))
    return None


def _text(dice: random.Random) -> str:
    if dice.random() < 0.6:
        return dice.choice([t for t in NASTY_TEXT if t != "\ud800"])
    letters = [chr(dice.choice((*range(32, 127), 0, 10, 0x202E, 0x1F600, 0x301, 0xE000))) for _ in range(dice.choice((1, 3, 20, 200)))]
    return "".join(letters)


def databases() -> Iterator[tuple[str, str]]:
    """The trackers' stores as SQL, and the names under which their formats expect them."""
    yield "mlflow.db", (DATA / "trackers" / "mlflow.sql").read_text()
    yield "project.db", (DATA / "trackers" / "trackio.sql").read_text()
