"""What is raised when somebody asks for what is not there."""


class NoSuchChoice(LookupError):
    """The caller's mistake; the message names the choices."""


def no_such(kind: str, asked: object, choices: object, most: int = 40) -> NoSuchChoice:
    """The exception for a name that is none of ``choices``."""
    names = [str(c) for c in choices] if isinstance(choices, list | tuple | set | frozenset | dict) else [str(choices)]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    listed = f"there are {', '.join(names[:most])}{more}" if names else "there are none here"
    return NoSuchChoice(f"no {kind} is called {str(asked)[:80]!r}; {listed}")
