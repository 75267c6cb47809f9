"""What a console log says besides its metrics: tracebacks, CUDA errors, out of memory, NaN warnings."""

import re
from dataclasses import dataclass, field

from rl_advisor.intake.bytes_in import plain_text
from rl_advisor.run import Event

TEXT_LIMIT = 2_000
EVENT_LIMIT = 100
INTERESTING = re.compile(
    r"NVRM: Xid|uncorrectable ECC"
    r"|Traceback \(most|\b\w*(?:Error|Exception)\b|[Oo]ut of memory|OOM|Killed|SIGKILL|SIGTERM|\b(?:nan|NaN|inf)\b|KeyboardInterrupt"
)
_ERROR = (
    r"^\s*(?:[\w.]+\.)?\w*(?:Error|Exception)\b(?::|\(|$)"
    r"|NVRM: Xid|uncorrectable ECC|CUDA error|NCCL error|SIGKILL|SIGTERM|KeyboardInterrupt|core dumped"
)
_NON_FINITE = (
    r"\b(?:nan|inf)\b.{0,40}\b(?:detected|encountered|found|skipp\w+)\b"
    r"|\b(?:found|detected|contains?|got|skip\w*|overflow|became)\b.{0,40}\b(?:nan|inf)\b"
    r"|\b(?:is|are)\s+(?:now\s+|all\s+)?(?:nan|inf)\b"
)
_KINDS = (
    ("out_of_memory", re.compile(r"out of memory|OutOfMemory|OOM[- ]?[Kk]ill|oom-kill|\bKilled\b", re.IGNORECASE)),
    ("error", re.compile(_ERROR)),
    ("non_finite", re.compile(_NON_FINITE, re.IGNORECASE)),
)
_PREFIX = re.compile(r"^(?:\((?:[\w.: -]+?)(?:pid|ip)=[^)]*\)|\[rank\d+\]:?)\s?")


@dataclass
class Watch:
    """Looks at the lines of a log one after another and keeps the events."""

    where: str
    events: list[Event] = field(default_factory=list)
    _traceback: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def look(self, line: str, step: float | None) -> None:
        """Take in one line; ``step`` is the last step that was seen before it."""
        if self._traceback:
            self._continue(line, step)
        elif INTERESTING.search(line):
            text = _PREFIX.sub("", plain_text(line))
            if "Traceback (most recent call last)" in text:
                self._traceback.append(text)
            else:
                self._keep(text, step)

    @property
    def inside(self) -> bool:
        """Whether the lines of a traceback are being taken in."""
        return bool(self._traceback)

    def finish(self, step: float | None) -> tuple[Event, ...]:
        """All events, an unfinished traceback among them."""
        if self._traceback:
            self._close(step)
        return tuple(self.events)

    def _continue(self, line: str, step: float | None) -> None:
        text = _PREFIX.sub("", plain_text(line))
        self._traceback.append(text)
        ended = bool(text) and not text[0].isspace() and "Traceback" not in text
        if ended or len(self._traceback) > 200:
            self._close(step)

    def _close(self, step: float | None) -> None:
        text = "\n".join(self._traceback)
        self._traceback = []
        last = text.rsplit("\n", 1)[-1]
        kind = "out_of_memory" if _KINDS[0][1].search(last) else "error"
        self._add(kind, text, step)

    def _keep(self, text: str, step: float | None) -> None:
        kind = next((name for name, pattern in _KINDS if pattern.search(text)), None)
        if kind:
            self._add(kind, text.strip(), step)

    def _add(self, kind: str, text: str, step: float | None) -> None:
        short = text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT // 4] + "\n...\n" + text[-TEXT_LIMIT * 3 // 4 :]
        if short not in self._seen and len(self.events) < EVENT_LIMIT:
            self._seen.add(short)
            self.events.append(Event(kind, short, self.where, step))
