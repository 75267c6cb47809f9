"""The texts that travel with the package: prompts and the skill's pages, from the repository or from the installed wheel."""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parents[1]
SKILL = "rl-practitioner"


def folder(name: str) -> Path:
    """The folder ``prompts`` or ``skills``.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    for place in (_HERE.parent / name, _HERE / f"_{name}"):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the folder {name} did not come with this installation")


@cache
def prompt(name: str) -> str:
    """The text of ``prompts/NAME.md``."""
    return (folder("prompts") / f"{name}.md").read_text(encoding="utf-8")


@cache
def skill_pages() -> dict[str, str]:
    """The skill's files by their path inside the skill, ``SKILL.md`` first; what is only for its evaluation is left out."""
    base = folder("skills") / SKILL
    pages = sorted(base.rglob("*.md"), key=lambda p: (p.name != "SKILL.md", p.as_posix()))
    return {p.relative_to(base).as_posix(): p.read_text(encoding="utf-8") for p in pages if "evals" not in p.relative_to(base).parts}


def frontmatter(page: str) -> dict[str, str]:
    """The fields at the head of ``SKILL.md``."""
    import yaml

    fields: dict[str, str] = yaml.safe_load(page.split("---", 2)[1])
    return fields
