"""Settings on a command line, told by its shape: ``--flag value``, ``--flag=value``, Hydra's ``group.key=value``; variables are put in."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.run import Named

COMMAND = "command"
"""The key under which the program stands that a command line starts."""
LIMIT = 2_000
_PROGRAM = re.compile(r"(?:\S*/)?[\w.-]+\.(?:py|sh|ya?ml)")
_PLAIN = re.compile(r"[\w./@-]+")
_MODULE = re.compile(r"[A-Za-z_][\w.]*")
_WORDS = re.compile(r"[\s$+>%]*([a-z][\w-]*(?: +[a-z][\w-]*){0,2})(?: +--?[a-z][\w.-]*(?:[= ]+[^\s-]\S*)?){1,200}\s*")
_WORTH = re.compile(r"--[a-z][\w.-]{0,80}+[= ]{1,20}+[^\s\d./_]{0,80}+[\d./_]")
_ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w{0,60})=(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s;&|]{0,300})")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w{0,60})(?::-([^}\n]{0,200}))?\}|\$([A-Za-z_]\w{0,60})")
_FLAG = re.compile(r"--?([A-Za-z][\w.-]{0,120})(?:=(.*))?", re.DOTALL)
_HYDRA = re.compile(r"\+{0,2}([A-Za-z_@][\w.@/-]{0,160})=(.*)", re.DOTALL)
_RUNS = ("-m", "--module")
_TOKEN = re.compile(r"(?:[^\s'\"]{1,2000}|'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"|['\"])+")


def of_commands(text: str) -> Named:
    """The settings of every training command in a script; of one that is given twice the last counts."""
    found: Named = {}
    variables: dict[str, str] = {}
    for line in _joined(text):
        if assigned := _ASSIGNED.fullmatch(line.strip()):
            variables[assigned.group(1)] = _filled(assigned.group(2).strip("'\""), variables)
        elif "=" in line or "--" in line:
            whole = _filled(line, variables)
            tokens = [token.replace("'", "").replace('"', "") for token in _TOKEN.findall(whole)][:LIMIT]
            if program := _program(tokens, whole):
                found |= {COMMAND: program[-200:], **_settings(tokens)}
    return found


def _program(tokens: Sequence[str], line: str) -> str:
    """What a command line starts: a script or a module that settings follow, else the words before nothing but flags and values."""
    before = ["", *tokens]
    ran = [
        i
        for i, (flag, token) in enumerate(zip(before, tokens, strict=False))
        if (_PROGRAM.fullmatch(token) and not flag.startswith("--"))
        or (_MODULE.fullmatch(token) and (flag in _RUNS or (flag.startswith("--") and "=" in flag and before[i - 1] in _RUNS)))
    ] or [i for i, token in enumerate(tokens) if token.endswith(".py")][:1]
    after = tokens[ran[-1] + 1 :] if ran else ()
    if any(token.startswith("--") or _HYDRA.fullmatch(token) for token in after):
        bare = [*takewhile(lambda token: token[0] != "-" and "=" not in token, after)]
        return " ".join([*(tokens[i] for i in ran), *bare]) if len(bare) < 3 and all(map(_PLAIN.fullmatch, bare)) else ""
    words = _WORDS.fullmatch(line[:2_000]) if not ran and _WORTH.search(line) else None
    return words[1] if words else ""


def _joined(text: str) -> Iterator[str]:
    """The lines of a script, continued ones as one, without comments."""
    whole = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue
        bare = line.rstrip()
        if bare.endswith("\\"):
            whole += bare[:-1] + " "
            continue
        yield whole + bare
        whole = ""
    yield whole


def _filled(line: str, variables: dict[str, str]) -> str:
    """The line with the values of variables that the script sets; others are left as they stand."""
    return _VARIABLE.sub(lambda m: variables.get(m.group(1) or m.group(3), m.group(2) or m.group(0)), line)[:100_000]


def _settings(tokens: Sequence[str]) -> Named:
    found: Named = {}
    for token, after in zip(tokens, [*tokens[1:], "--"], strict=True):
        if flag := _FLAG.fullmatch(token):
            name, value = flag.group(1), flag.group(2)
            bare = value is None and (
                after.startswith("--") or (after.startswith("-") and typed(after) == after) or bool(_HYDRA.fullmatch(after))
            )
            found[name.replace("-", "_")] = True if bare else typed(after if value is None else value)
        elif hydra := _HYDRA.fullmatch(token):
            found[hydra.group(1)] = typed(hydra.group(2))
    return found
