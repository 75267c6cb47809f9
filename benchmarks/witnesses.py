"""Which numbers of a module has nobody a test for: each is changed, one at a time, and the tests that should notice are run.

    python benchmarks/witnesses.py rl_advisor/judgement/verdict.py [--tests tests/test_judgement.py ...] [--most 20]

The tree is copied to a folder of its own; nothing here is changed. A number that no test misses is printed with its line: give it a test,
or take it away. Numbers 0, 1 and 2 stand for structure, those below a hundred-thousandth guard a division: they are
left alone, and so are the arguments of ``lru_cache``.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).parents[1]
TESTS = ("tests/test_judgement.py", "tests/test_weighing.py", "tests/test_one_ruler.py", "tests/features/test_closed_forms.py")
STRUCTURE, GUARD = (0, 1, 2), 1e-5
TIMES = 1.5


def numbers(text: str) -> Iterator[ast.Constant]:
    """The numbers of a module that may be changed, in the order of its lines."""
    tree = ast.parse(text)
    spared = {
        id(n) for call in ast.walk(tree) if isinstance(call, ast.Call) and "lru_cache" in ast.unparse(call.func) for n in ast.walk(call)
    }
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) in (int, float) and id(n) not in spared)
    yield from sorted((n for n in found if n.value not in STRUCTURE and n.value >= GUARD), key=lambda n: (n.lineno, n.col_offset))


def changed(text: str, number: ast.Constant) -> str:
    """The module with one number half as large again."""
    lines = text.encode().split(b"\n")
    line = lines[number.lineno - 1]
    more = type(number.value)(number.value * TIMES) if isinstance(number.value, int | float) else number.value
    lines[number.lineno - 1] = line[: number.col_offset] + repr(more).encode() + line[number.end_col_offset :]
    return b"\n".join(lines).decode()


def noticed(tree: Path, tests: list[str]) -> bool:
    """Whether a test of the copy fails."""
    asked = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    clean = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(asked, cwd=tree, env=clean, capture_output=True, check=False).returncode != 0


def main() -> None:
    """Prints the numbers without a witness, and how many have one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", default=list(TESTS))
    parser.add_argument("--most", type=int, default=1000, help="numbers that are tried at most, evenly chosen")
    said = parser.parse_args()
    found = [(module, number) for module in said.modules for number in numbers(module.read_text(encoding="utf-8"))]
    tried = [found[i * len(found) // said.most] for i in range(said.most)] if len(found) > said.most else found
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(HOUSE, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "corpus", "shared"))
        (tree / "evals/corpus").symlink_to(HOUSE / "evals/corpus")
        for module, number in tried:
            text = module.read_text(encoding="utf-8")
            (tree / module).write_text(changed(text, number), encoding="utf-8")
            if not noticed(tree, said.tests):
                survived += 1
                print(f"{module}:{number.lineno}: {number.value} | {text.splitlines()[number.lineno - 1].strip()}", flush=True)
            (tree / module).write_text(text, encoding="utf-8")
    print(f"{len(tried) - survived} of {len(tried)} numbers have a witness")


if __name__ == "__main__":
    main()
