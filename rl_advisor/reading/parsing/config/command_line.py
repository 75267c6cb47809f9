"""Settings on a command line: ``--flag value``, ``--flag=value`` and Hydra's ``group.key=value``; the script's variables are put in."""

import re
from collections.abc import Iterator, Sequence

from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.run import Named

COMMAND = "command"
"""The key under which the program stands that a command line starts."""
LIMIT = 2_000
_STARTS = re.compile(
    r"(?:^|[\s/;&|(])(?:python[\d.]*|torchrun|accelerate|deepspeed|swift|rlhf|mlagents-learn|uv run|ray job|srun|llamafactory-cli|trl)"
    r"(?=\s)"
)
_ASSIGNED = re.compile(r"(?:export\s+)?([A-Za-z_]\w{0,60})=(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s;&|]{0,300})")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w{0,60})(?::-([^}\n]{0,200}))?\}|\$([A-Za-z_]\w{0,60})")
_FLAG = re.compile(r"--?([A-Za-z][\w.-]{0,120})(?:=(.*))?", re.DOTALL)
_HYDRA = re.compile(r"\+{0,2}([A-Za-z_@][\w.@/-]{0,160})=(.*)", re.DOTALL)
_TOKEN = re.compile(r"(?:[^\s'\"]{1,2000}|'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"|['\"])+")


def of_commands(text: str) -> Named:
    """The settings of every training command in a script; of one that is given twice the last counts."""
    found: Named = {}
    variables: dict[str, str] = {}
    for line in _joined(text):
        if assigned := _ASSIGNED.fullmatch(line.strip()):
            variables[assigned.group(1)] = _filled(assigned.group(2).strip("'\""), variables)
        elif _STARTS.search(line):
            tokens = [token.replace("'", "").replace('"', "") for token in _TOKEN.findall(_filled(line, variables))]
            found |= _settings(tokens[:LIMIT])
    return found


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
    found: Named = {COMMAND: " ".join(t for t in tokens[:12] if not t.startswith("-") and "=" not in t)[:200]}
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
