"""The modules of a folder and its tables: the folder is the registry, and nothing in it is skipped in silence."""

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


@cache
def modules(package: str, *names: str) -> tuple[ModuleType, ...]:
    """The modules of ``package`` in alphabetical order, each of which must define ``names``.

    Raises:
        ImportError: a module lacks one of the names; the message says which.
    """
    found = []
    for info in sorted(iter_modules(import_module(package).__path__), key=lambda i: i.name):
        module = import_module(f"{package}.{info.name}")
        missing = [name for name in names if not hasattr(module, name)]
        if missing:
            raise ImportError(f"{module.__name__} does not define {', '.join(missing)}, which every module of {package} must")
        found.append(module)
    return tuple(found)


@cache
def table(beside: str, name: str) -> dict[str, Any]:
    """The table ``name`` (TOML) in the folder of a module's file."""
    return tomllib.loads((Path(beside).parent / name).read_text(encoding="utf-8"))


def function_of(where: str) -> Any:
    """The function that ``module:name`` names."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
