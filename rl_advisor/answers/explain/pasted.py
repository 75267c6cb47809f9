"""Pasted text becomes a Run: quoting marks come off, the readers look at it as at a file, and the settings that stand in it come along."""

import re
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from rl_advisor.answers.explain.procedures import in_english
from rl_advisor.answers.explain.told import curve_of, meaning, settings_said, told_in
from rl_advisor.answers.explain.written import bare, left_out
from rl_advisor.curves.task import spoken_of
from rl_advisor.judgement.proofs.crashes import warnings_in
from rl_advisor.output.errors import no_such
from rl_advisor.reading import read_alone
from rl_advisor.reading.parsing.bytes_in import document, plain_text
from rl_advisor.reading.parsing.config import settings_in
from rl_advisor.reading.parsing.confined_files import fenced, held
from rl_advisor.reading.parsing.text_file import text_file
from rl_advisor.reading.run_folder import walk
from rl_advisor.reading.translating import recognise, settings_of
from rl_advisor.run import Curve, Event, Gap, Run
from rl_advisor.settings.given import said_in
from rl_advisor.settings.of_run import TOLD
from rl_advisor.vocabulary.dialects import dialects

NAME = "pasted lines"
NAMES = 80
"""Names that no reader took and that are looked up."""
END = 1_000_000
"""Characters at both ends of a longer paste that are looked at."""
FEW, FEW_FILES, KNOWN = 50_000, 16, 2
"""Bytes of a text that is read as pasted lines where no table is found, the most files looked at, and the known names it takes."""
READ, CONFIG = ("", ".txt", ".log", ".out", ".md", ".sh", ".yaml", ".yml", ".json", ".toml"), 5
"""Endings of files that are looked at, and the settings that are a configuration."""
SET = re.compile(r"[/_]coef$|learning_rate$|^progress/")
"""Names of what is set and not measured."""
_QUOTE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?){1,3}|^[ \t]{0,3}`{3,}[^\n]{0,40}$|^`|`[ \t]*$|^//(?=-)", re.MULTILINE)
_PACE = re.compile(r"(?<![\d.])(\d{1,6}(?:\.\d{1,9})?) ?s(?:ec(?:ond)?s?)?(?: ?/ ?| per | a )(?:it(?:er|eration)?|step)\b")
"""The seconds a step takes, as a bar of progress or a sentence says them: "281.24s/it", "80 seconds per step"."""
_PRINTED = re.compile(r"[ \t]*+(?:[\[(][^\])\d]*+\d[^\])]*+[\])]|[{|+]|File \"|Traceback )")
"""How a line begins that a program printed: a rank, a time or a counter in brackets, a table, a place in code."""
_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}\b")
"""A machine and its port: no number that was measured."""
_TABLE = re.compile(r"^[^\n,]{1,60}(?:,[^\n,]{1,60}){2,200}\n[-+\d.eE, nNaAiIfF]{5,4000}$", re.MULTILINE)


def run_of(text: str, framework: str | None = None) -> Run:
    """What can be read of a pasted text; a Run without curves where nothing can. Nothing of it is written anywhere.

    ``framework`` is the name of a dialect, for settings whose keys several frameworks use.

    Raises:
        UsageError: there is no such framework; the message names the nearest, and all.
    """
    framework = _framework(framework) if framework else None
    plain = _ADDRESS.sub("host", _QUOTE.sub("", bounded(text)))
    run = _read(plain)
    if len(run.rollouts):
        return run
    plain = in_english(plain)
    run = _with_told(run, plain)
    written = settings_in(plain) if len(plain) < END else {}
    written = {**said_in(plain, [c.raw for c in run.curves.values() if c.note != TOLD]), **written}
    if written:
        dialect = dialects().get(framework or (run.frameworks[0] if run.frameworks else ""))
        run = replace(run, config={**written, **run.config}, settings={**settings_of(written, dialect), **run.settings})
    run = _with_written(run, plain)
    took = [float(n) for n in _PACE.findall(plain)]
    run = replace(run, curves={**({"time/step": curve_of("time/step", "a step", took)} if took else {}), **_parts_named(run.curves)})
    return replace(run, frameworks=(framework, *run.frameworks)) if framework and framework not in run.frameworks else run


def run_of_few(place: Path) -> Run:
    """The run in a few lines of text, such as one row of a console, read as pasted ones are, with the settings of all files that lie there.

    Empty where fewer than two names are known, and neither a configuration nor a trainer's warning stands there.
    """
    root = (place if place.is_dir() else place.parent).resolve()
    told: list[tuple[Run, str]] = []
    warned: list[Event] = []
    with nullcontext() if held(place) else fenced(root):
        for file in walk(root).files[:FEW_FILES] if place.is_dir() else [Path(place.name)]:
            with suppress(OSError, OverflowError):
                text = plain_text(document(root / file, FEW).decode("utf-8", "replace")) if file.suffix in READ else ""
                told.append((run_of(text), str(file)))
                warned += [Event("warning", w.about[0], str(file)) for w in warnings_in(text)]
    best, at = max(told, key=lambda one: (_known(one[0]), len(one[0].curves)), default=(Run(), ""))
    config = {key: value for run, _ in told[::-1] for key, value in run.config.items()}
    settings = {key: value for run, _ in told[::-1] for key, value in run.settings.items()}
    gap = Gap(at, f"a few lines without a table: read as pasted ones are; explain {at} tells what each number means")
    curves = {n: replace(c, source=at) for n, c in best.curves.items()}
    best = replace(best, name=place.name, curves=curves, settings=settings, config=config, gaps=(gap, *best.gaps))
    events = (*best.events, *warned)
    return replace(best, events=events) if _known(best) >= KNOWN or events or len(config) >= CONFIG else Run()


def _known(run: Run) -> int:
    """How many of its measures go by a name that is known; what is set is none."""
    return sum(c.explained and not SET.search(n) for n, c in run.curves.items())


def _with_written(run: Run, text: str) -> Run:
    """The run with the numbers that its reader left in the text, a row for each, and all by our names where these are plain."""
    curves = {n: c for n, c in run.curves.items() if c.explained}
    taken = {bare(part) for c in run.curves.values() for part in (c.raw, c.raw.rpartition("/")[2])}
    left = [curve_of(raw, raw, values.tolist()) for raw, values in [*left_out(run, text).items()][:NAMES]]
    for curve in [*(c for n, c in run.curves.items() if n not in curves), *left]:
        ours = meaning(curve.raw, curve.value.tolist())
        known = ours is not None and (ours not in curves or curves[ours].value.size < curve.value.size)
        if known or curve.note != TOLD or bare(curve.raw) not in taken:
            name = ours if known and ours else curve.name
            curves[name] = replace(curve, name=name, guessed=known, note="")
    return replace(run, curves=curves)


def _with_told(run: Run, text: str) -> Run:
    """The run with the numbers and the algorithm that its writer names in sentences, where no row and no setting does."""
    said = told_in(prose(text) if run.curves else text)
    said = {n: c for n, c in said.items() if not any(read.raw.endswith(f"/{c.raw}") for read in run.curves.values())}
    dialect = recognise([c.raw for c in said.values()]) if not run.frameworks else None
    frameworks = (dialect.name,) if dialect else run.frameworks
    settings = settings_said(text)
    if run.curves and settings.get("algorithm") == "ppo" and spoken_of(text) != "control":
        del settings["algorithm"]  # agents and language models are trained by it, and these rows may be of either
    return replace(run, curves={**said, **run.curves}, settings={**settings, **run.settings}, frameworks=frameworks)


def prose(text: str, each: int = 2) -> str:
    """The lines that are sentences and no rows: four words, and so many for ``each`` number; with 0 all that no machine printed."""
    lines = (line for line in text.splitlines() if not _PRINTED.match(line))
    counted = ((line, len(re.findall("[A-Za-z]{2,}", line)), len(re.findall(r"\d[\d.]*", line))) for line in lines)
    return "\n".join(line for line, words, numbers in counted if not each or words >= max(4, each * numbers))


def bounded(text: str) -> str:
    """The text, or its two ends where it is longer than two million characters."""
    return text if len(text) <= 2 * END else f"{text[:END]}\n{text[-END:]}"


def _read(text: str) -> Run:
    """The run that one of the readers makes of the text as a file of the kind that it looks like."""
    for name in _names(text):
        try:
            run = read_alone(text_file(name, text))
        except (ValueError, OSError):
            continue
        if run.curves or run.events or len(run.rollouts):
            gaps = tuple(replace(g, where="the paste") for g in run.gaps)
            return replace(run, name=NAME, files=(), gaps=gaps)
    return Run(name=NAME)


def _parts_named(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """Shares of right answers and of kept forms, where both stand bare in the same rows, as parts of the reward."""
    bare = [n for n, c in curves.items() if c.name == c.raw and c.value.size and bool(np.all((c.value >= 0) & (c.value <= 1)))]
    right, form = ({n for n in bare if words.fullmatch(n)} for words in (_RIGHT, _FORM))
    ours = {n: f"reward/component/{n}" for n in right | form} if right and form else {}
    return {ours.get(n, n): replace(c, name=ours[n], guessed=True) if n in ours else c for n, c in curves.items()}


_RIGHT = re.compile(r"(?i)(?:mean_|avg_)?(?:accuracy|acc|correct(?:ness)?|solved|success|answer)(?:_(?:reward|score|rate|mean))?")
_FORM = re.compile(r"(?i)(?:mean_|avg_)?(?:format|fmt|form|tags?|xml|style|template|length)(?:_(?:reward|score|rate|mean))?")


def _names(text: str) -> tuple[str, ...]:
    """File names under which the readers may claim the text, the likeliest first."""
    start = text.lstrip()[:4_000]
    if start.startswith("{") and '":' in start:
        return ("metrics.jsonl", "train.log")
    if _TABLE.search(start):
        return ("progress.csv", "train.log")
    return ("train.log", "metrics.jsonl", "results.md")


def _framework(asked: str) -> str:
    """The name of the dialect that is meant, however it is written."""
    meant = next((name for name in dialects() if bare(name) == bare(asked)), None)
    if meant is None:
        raise no_such("framework", asked, sorted(dialects()))
    return meant
