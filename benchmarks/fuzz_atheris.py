"""Lets atheris, which sees the branches that an input takes through the package, look for bytes that reach new ones; prints what it tried.

Every module that has to do with reading is instrumented as it is imported. The first byte of an input chooses the name under which the
rest is read. What counts as broken is what ``fuzz.py`` says; nothing stops at the first finding.
"""

import argparse
import os
import pkgutil
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rl_advisor"], enable_loader_override=False):
    import rl_advisor

    for room in ("reading", "vocabulary"):
        for found in pkgutil.walk_packages([f"{rl_advisor.__path__[0]}/{room}"], f"rl_advisor.{room}."):
            import_module(found.name)

import fuzz

LONGEST, LONGEST_TEXT = 70_000, 3_000
"""Bytes of an input, and of a text to begin with: short ones are read sooner, and reach the same branches."""


def main() -> None:
    """Try inputs until the time is over, then print and leave; the exit code says whether anything broke."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--inputs", type=float, default=float("inf"))
    options.add_argument("--seed", type=int, default=None)
    asked = options.parse_args()
    first = int.from_bytes(os.urandom(3)) if asked.seed is None else asked.seed
    corpus, broken, claimed = fuzz.seeds(), dict[str, str](), Counter[str]()
    fuzz.prepare()
    with tempfile.TemporaryDirectory() as folder:
        place = fuzz.run_place(Path(folder))
        start = place / "corpus"
        start.mkdir()
        for i, (name, data) in enumerate(corpus):
            whole = b"\0" in data or name.endswith(("json", "ipynb"))
            (start / str(i)).write_bytes(bytes([i % 256]) + (data if whole else data[:LONGEST_TEXT]))
        end = time.monotonic() + asked.seconds

        def one(data: bytes) -> None:
            if time.monotonic() > end or claimed.total() >= asked.inputs:
                print(
                    f"atheris: {claimed.total():,} inputs, seed {first}, {len(broken)} kinds of failure; {dict(claimed.most_common())}",
                    flush=True,
                )
                os._exit(bool(broken))  # the library itself would end the process with its own words
            name = corpus[data[0] % len(corpus)][0] if data else "empty.log"
            claimed[fuzz.tried_file(place, name, data[1:], broken)] += 1

        atheris.Setup([sys.argv[0], f"-seed={first}", f"-max_len={LONGEST}", "-verbosity=0", "-print_funcs=0", str(start)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
