"""What a console log says besides its metrics: tracebacks, CUDA errors, out of memory, NaN warnings, resumes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from rl_advisor.reading.parsing.bytes_in import plain_text
from rl_advisor.run import Event

CONSOLES = (".log", ".txt", ".out", ".err", ".md", "stdout", "stderr", "output", "console")
"""How the names of console logs end."""
TEXT_LIMIT = 2_000
EVENT_LIMIT = 100
SURVIVED = 200
"""Lines after which an error was not the end of a run."""
INTERESTING = re.compile(
    r"NVRM: Xid|uncorrectable ECC|Traceback \(most|Error\b|Exception\b|Out of memory|out of memory|OOM|Killed|SIGKILL|SIGTERM"
    r"|nan\b(?<!\w...)|NaN\b(?<!\w...)|inf\b(?<!\w...)|KeyboardInterrupt|OVERFLOW!|Overflow|overflow|Resume|resume|Resuming|resuming"
    r"|Checkpoint|checkpoint|ckpt|Loaded|loaded|Restored|restored|Restoring|restoring"
)
"""Each begins with a letter of its own, which the library looks for at once."""
_ERROR = (
    r"^\s*(?:[\w.]+\.)?(?:\w+Error|\w*Exception)\b(?::|\(|$)"
    r"|NVRM: Xid|uncorrectable ECC|CUDA error|NCCL error|SIGKILL|SIGTERM|KeyboardInterrupt|core dumped"
)
_COMPUTED = (
    r"(?:loss|grad|logit|log_?prob|weight|param|reward|advantage|value|ratio|\bkl\b|entropy|tensor|activation|overflow|update|step|model"
    r"|action)"
)
_NON_FINITE = (
    r"\b(?:nan|inf)\b.{0,40}\b(?:detected|encountered|found|skipp\w+)\b"
    r"|\b(?:found|detected|contains?|got|skip\w*|overflow|became)\b.{0,40}\b(?:nan|inf)\b"
    r"|\b(?:is|are)\s+(?:now\s+|all\s+)?(?:nan|inf)\b"
)
_NONE_COUNTED = re.compile(r"(?i)\b(?:nan|inf)\w{0,40}(?:[ _]\w{1,40}){0,2}\s{0,8}[:=]\s{0,8}0++(?:\.0++)?\b")
"""``number of nan iterations: 0``."""
_RESUMED = (
    r"(?:^|[\]:)>|-]|\b(?:info|warning|debug|__main__))\s*(?:auto[- ])?(?:"
    r"(?:resum(?:e|ed|ing)|continuing)(?: (?:training|run|model|state|trainer|experiment|weights))?,? (?:from|at)\b.{0,120}"
    r"(?:checkpoint|ckpt|(?:step|iter\w*|epoch|episode|update)[ =:#_-]{0,3}\d)"
    r"|(?:load|restor)(?:ed|ing)(?: \w+)? (?:checkpoint|ckpt|state)\b.{0,160}(?:step|iter\w*|epoch|episode|update)[ =:#_-]{0,3}\d)"
)
"""``Resuming training from /x/checkpoint-500``, ``Loaded checkpoint c.pt at step 500``: a log's own line, not a word in a sentence."""
_KINDS = (
    ("out_of_memory", re.compile(r"out of memory|OutOfMemory|OOM[- ]?[Kk]ill|oom-kill|\bKilled\b", re.IGNORECASE)),
    ("overflow", re.compile(r"\bOVERFLOW!|[Gg]radient overflow|[Oo]verflow.{0,80}loss.scale|loss.scale.{0,80}[Oo]verflow")),
    ("error", re.compile(_ERROR)),
    ("non_finite", re.compile(_NON_FINITE, re.IGNORECASE)),
    ("resume", re.compile(_RESUMED, re.IGNORECASE)),
)
_OF_WHAT = re.compile(_COMPUTED, re.IGNORECASE)
"""What is NaN must be computed in training: a side metric that is none broke nothing."""
_PREFIX = re.compile(r"^(?:\((?:[\w.: -]+?)(?:pid|ip)=[^)]*\)|\[rank\d+\]:?)\s?")


@dataclass
class Watch:
    """Looks at the lines of a log one after another and keeps the events: the first and the newest of them, where there are many."""

    line: int = 0
    """How many lines have gone through."""
    _traceback: list[str] = field(default_factory=list)
    _said: dict[tuple[str, float | None], tuple[Event, float | None]] = field(default_factory=dict)
    """What was said at least once, as it was said last but with the first step before it, and the last one."""

    def through(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines, counted, so that an event can say where it stands."""
        for self.line, line in enumerate(lines, 1):
            yield line

    def look(self, line: str, step: float | None) -> None:
        """Take in one line; ``step`` is the last step that was seen before it."""
        if not self._traceback and not INTERESTING.search(line):
            return
        text = _PREFIX.sub("", plain_text(line))
        if not self._traceback and "Traceback (most recent call last)" not in text:
            self._keep(text, step)
            return
        self._traceback.append(text)
        ended = bool(text) and not text[0].isspace() and "Traceback" not in text
        if ended or len(self._traceback) > 200:
            self._close(step)

    @property
    def inside(self) -> bool:
        """Whether the lines of a traceback are being taken in."""
        return bool(self._traceback)

    def finish(self, step: float | None) -> tuple[Event, ...]:
        """All events, an unfinished traceback among them; an error after which the log went on is a warning."""
        if self._traceback:
            self._close(step)
        return tuple(
            replace(event, kind="warning") if event.kind == "error" and self._survived(event, last, step) else event
            for event, last in self._said.values()
        )

    def _survived(self, event: Event, last: float | None, step: float | None) -> bool:
        """Whether rows or many lines came after it was said last: the text of a sample, or what the program took in its stride."""
        return (step is not None and last is not None and step > last) or self.line - event.line > SURVIVED

    def _close(self, step: float | None) -> None:
        text = "\n".join(self._traceback)
        self._traceback = []
        last = text.rsplit("\n", 1)[-1]
        kind = "out_of_memory" if _KINDS[0][1].search(last) else "error"
        self._add(kind, text, step)

    def _keep(self, text: str, step: float | None) -> None:
        kind = next((name for name, pattern in _KINDS if pattern.search(text)), None)
        if kind == "non_finite" and _NONE_COUNTED.search(text):
            return
        if kind == "non_finite" and not _OF_WHAT.search(text):
            kind = "warning"
        if kind:
            self._add(kind, text.strip(), step)

    def _add(self, kind: str, text: str, step: float | None) -> None:
        short = text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT // 4] + "\n...\n" + text[-TEXT_LIMIT * 3 // 4 :]
        key = (short, step if kind == "resume" else None)
        first = self._said[key][0].step if key in self._said else step
        self._said[key] = Event(kind, short, "", first, self.line), step
        if len(self._said) > EVENT_LIMIT:
            del self._said[next(islice(self._said, EVENT_LIMIT // 2, None))]
