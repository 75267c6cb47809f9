"""The page of the rooms is made from the tree and the staircase: ``python tests/test_rooms.py`` writes it, the test holds it to them."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rl_advisor"
PAGE = ROOT / "docs/decisions/004-rooms.md"
MOST = 20
"""Names at the root besides ``__init__``, ``__main__`` and ``py.typed``: what a stranger can look over."""
TOP = """# 004 The rooms

Context: every module lies in a room, and a line of code knows its room: the nouns are the field's, plugs are folders, imports run down the
staircase of `pyproject.toml` (`lint-imports`). Each room's own first line says what it holds; this page is made from those lines by
`python tests/test_rooms.py` and held to the tree by the same file.

"""


def purpose(module: Path) -> str:
    """The first sentence of a module's or room's docstring."""
    source = module / "__init__.py" if module.is_dir() else module
    said = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|")


def names(folder: Path) -> list[Path]:
    """Modules and rooms of a folder that stand in it themselves."""
    return sorted(p for p in folder.iterdir() if (p / "__init__.py").is_file() or (p.suffix == ".py" and p.name != "__init__.py"))


def page() -> str:
    """The whole page: floors from the top, and on each the rooms with what they hold, rooms inside rooms beneath them."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    lines = ["| floor | room | holds |", "|---|---|---|"]
    for floor, layer in zip(range(len(contract["layers"]), 0, -1), contract["layers"], strict=True):
        for name in sorted(part.strip() for part in layer.split("|")):
            room = PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
            lines.append(f"| {floor} | `{name}` | {purpose(room)} |")
            inner = [p for p in names(room) if p.is_dir()] if room.is_dir() else []
            lines += [f"| | `{name}/{p.name}` | {purpose(p)} |" for p in inner]
    return TOP + "\n".join(lines) + "\n"


def test_the_page_of_the_rooms_is_the_tree() -> None:
    """The page is what its command writes."""
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/test_rooms.py"


def test_every_room_has_its_floor() -> None:
    """No name at the root stands outside the staircase, and the root stays small."""
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]["layers"]
    floors = {part.strip() for layer in layers for part in layer.split("|")}
    assert {p.stem for p in names(PACKAGE)} == floors
    assert len(floors - {"__main__"}) <= MOST


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
