"""What is raised when somebody asks for what is not there."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class UsageError(LookupError):
    """The caller's mistake; the message names the choices."""


class UnreadableRun(ValueError):  # noqa: N818 - the name says what it is
    """Nothing in the path could be read as a run; the message says what was found and what was looked for."""

    def __init__(self, message: str, shapes: Mapping[str, Sequence[str]] | None = None) -> None:
        """``shapes`` says of some files what they look like: text of strangers, to be shown as such."""
        super().__init__(message)
        self.shapes = dict(shapes or {})


def no_such(kind: str, asked: object, choices: Iterable[object], most: int = 40) -> UsageError:
    """The exception for a name that is none of ``choices``; choices that read like sentences are counted, not repeated."""
    from rl_advisor.output.clean import is_name

    names = [str(c) for c in choices]
    shown = [n for n in names if is_name(n)][:most]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    near = difflib.get_close_matches(str(asked), shown, 3, 0.6)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    listed = f"{meant}there are {', '.join(shown)}{more}" if names else "there are none here"
    return UsageError(f"no {kind} is called {str(asked)[:80]!r}; {listed}")


def install(*extras: str) -> str:
    """The command that installs extras; the package's name is no one's on the index yet, so it is installed from a checkout."""
    return f'uv pip install ".[{",".join(extras)}]" in a checkout of rl-advisor (or pip install)'


def complaints(wrong: "ValidationError") -> list[str]:
    """What is wrong with data that a model of ours checked, one line a field, without repeating them."""
    told = wrong.errors(include_input=False, include_url=False)[:12]
    return [f"{'.'.join(str(p) for p in e['loc']) or 'the whole'}: {e['msg']}" for e in told]
