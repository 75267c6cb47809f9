"""What the settings of a run, of a file or of a pasted text prove: each check's outcome, faults first."""

from dataclasses import asdict, replace
from pathlib import Path

from rl_advisor.answers.explain.pasted import run_of
from rl_advisor.output import Answer
from rl_advisor.output.clean import aliased, clean
from rl_advisor.output.errors import UnreadableRun, UsageError
from rl_advisor.output.names import names_of_run
from rl_advisor.reading import read_run
from rl_advisor.reading.parsing.config import settings_in
from rl_advisor.reading.parsing.config.values import TEXT_LIMIT
from rl_advisor.reading.run_folder import walk
from rl_advisor.run import Run
from rl_advisor.settings import checks
from rl_advisor.settings.given import is_word

WRITTEN = (".yaml", ".yml", ".json", ".sh", ".bash", ".py", ".txt", ".toml", ".cfg", ".log", "")
FILES = 20
SHOWN = 60


def check_of(run: Path | None = None, text: str = "", until: float | None = None) -> Answer:
    """What the settings at a path, or in a text, prove; a run is seen as it was at ``until``.

    Raises:
        FileNotFoundError: nothing is at the path.
        NoSuchChoice: neither a path nor a text is given, or no setting stands in them.
    """
    if run is None and not text.strip():
        raise UsageError("give a run, a configuration file or the text of settings")
    whole = run_of(text) if run is None else settings_at(run)
    whole = whole if until is None else whole.until(until)
    if not whole.config:
        raise UsageError(
            "no settings found; looked for YAML and JSON maps, command lines of a trainer, a training script, printed configurations"
        )
    outcomes = [checks.told(o) for o in checks.run(whole)]
    given = {k: v for k, v in whole.config.items() if not k.startswith("script.") and is_word(k) and (not isinstance(v, str) or is_word(v))}
    shown = {k: given[k] for k in list(given)[:SHOWN]}
    gaps = [asdict(g) for g in whole.gaps if "config" in g.why][:10]
    if len(whole.config) > len(shown):
        gaps.append({"where": "settings", "why": f"{len(whole.config) - len(shown)} more settings were read and are not repeated here"})
    answer = {"run": whole.name, "frameworks": list(whole.frameworks), "settings": shown, "checks": outcomes, "gaps": gaps}
    return aliased(clean(answer), names_of_run(whole))  # type: ignore[no-any-return]


def settings_at(place: Path) -> Run:
    """The run at a path with its settings; where no run is, what its configuration files hold.

    Raises:
        FileNotFoundError: nothing is there.
    """
    try:
        run = read_run(place)
    except UnreadableRun:
        run = Run(name=place.name)
    if run.config:
        return run
    names = walk(place).files if place.is_dir() else [place.name]
    files = [place / name for name in names] if place.is_dir() else [place]
    texts = [_text(f) for f in files if f.suffix.lower() in WRITTEN][:FILES]
    found: Answer = {}
    for text in texts:
        found |= settings_in(text)
    return replace(run, config=found, files=run.files or tuple(map(str, names)))


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(TEXT_LIMIT).decode("utf-8", "replace")
