"""Follows a growing run and speaks only when the judgement of it changes."""

import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from rl_advisor.answers import run_folders
from rl_advisor.answers.judgement import completed
from rl_advisor.answers.story.quantities import named, own_names
from rl_advisor.finding import BROKEN, Assessment
from rl_advisor.output import Answer, safe_write
from rl_advisor.output.clean import clean, readable
from rl_advisor.output.errors import UnreadableRun, UsageError
from rl_advisor.output.wording import plain
from rl_advisor.tools import advisor_named, report_file, webhook
from rl_advisor.tools.rules import rule

if TYPE_CHECKING:
    from rl_advisor.run import Run

HEALTHY, STOP, UNREADABLE = 0, 10, 3
LONGEST_PAUSE = 8
"""An idle run is looked at this many times more rarely than a busy one, at most."""
ENOUGH = 0.75
"""Weight from which a change is told: one look that is sure, or several in a row that are not. Verdicts that are nearly as likely as each
other take turns from look to look, and no turn of theirs is news."""


JUDGEMENT = {"verdict", "call", "first_broken_link"}
"""What of an assessment is worth a message when it changes."""
TOLD = {"run", "step", "planned_steps", "p_continue_pays", "confidence", "why", "summary"}
"""What a message says besides."""


class State(BaseModel, frozen=True, extra="forbid"):
    """What must survive a restart; all of it is written to the state file."""

    told: Answer | None = None
    doubted: Answer | None = None
    """Said by the latest assessments, not yet told."""
    weight: float = 0.0
    """What speaks for ``doubted`` so far."""
    latest: Answer | None = None
    """What is ``TOLD`` of the latest assessment."""
    number: int = 0
    watch: str = ""
    """A random name of this watch; with the number it makes the name of a change, the same however often the change is posted."""
    seen: str = ""
    """Digest of the files that were judged last: the same files are never judged twice."""
    due: bool = False
    """A change that was not yet printed and written as a report."""
    unsent: tuple[Answer, ...] = ()

    def but(self, **changed: Any) -> "State":
        """The state with other values."""
        return self.model_copy(update=changed)


def judged(run: "Run") -> Assessment:
    """The built-in judgement of a run in the run's own metric names."""
    return named(completed(run, advisor_named("builtin").assess(run)), own_names(run))


def heard(state: State, assessment: Assessment) -> tuple[State, Answer | None]:
    """The state after an assessment, and the change to tell once looks that agree in a row have enough weight together; else None."""
    now, likely = assessment.model_dump(include=JUDGEMENT), assessment.probabilities
    weight = likely.get(assessment.verdict, 0.0)
    if state.told is not None:  # how much likelier the verdict is than the one told; the same one counts half
        weight = weight / 2 if state.told["verdict"] == now["verdict"] else max(0.0, weight - likely.get(state.told["verdict"], 0.0))
    return _weighed(state.but(latest=clean(assessment.model_dump(include=TOLD))), now, weight)


def _weighed(before: State, now: Answer, weight: float) -> tuple[State, Answer | None]:
    """The state after a look that speaks for a judgement so much, and the change where it is to be told."""
    if now == before.told:
        return before.but(doubted=None, weight=0.0), None
    weight += before.weight if now == before.doubted else 0.0
    if weight < ENOUGH:
        return before.but(doubted=now, weight=weight), None
    number, watch = before.number + 1, before.watch or secrets.token_hex(8)
    state = before.but(told=now, doubted=None, weight=0.0, number=number, watch=watch, due=True)
    change = {"schema": "rl-advisor/change/1", "id": f"{watch}-{number}", "number": number, **(state.latest or {})}
    return state, change | {"before": before.told, "now": now, "text": line(change | now)}


def line(change: Mapping[str, Any]) -> str:
    """The change in one line, for a terminal or a chat: what to do, then what was seen."""
    if "rule" in change:
        return f"{time.strftime('%H:%M')} step {change['step']:.0f}: {change['rule']}"
    broken = change["first_broken_link"]
    stage = "" if broken == "none" else f" (broke first: {plain(broken)})"
    why = f": {change['why'].rstrip('.')}" if change.get("why") else ""
    done = change["call"] == "stop" and bool(change.get("planned_steps")) and change["step"] >= change["planned_steps"]
    call = "finished" if done else change["call"]
    return f"{time.strftime('%H:%M')} step {change['step']}: {call}, {plain(change['verdict'])}{stage}{why}."


def ended(state: State) -> bool:
    """Whether the plan is done, as far as the latest assessment knows."""
    latest = state.latest or {}
    return bool(latest.get("planned_steps")) and latest["step"] >= latest["planned_steps"]


def load(path: Path | None) -> State:
    """The state in a file, a fresh one when there is none.

    Raises:
        NoSuchChoice: the file is something else.
    """
    if path is None or not path.exists():
        return State()
    try:
        return State.model_validate_json(path.read_bytes())
    except ValueError as unfit:
        raise UsageError(f"{path.name} is no state of watch; name another file or remove it") from unfit


class Voice:
    """Judges a growing run again and again; says each change once (prints, reports, posts it), and keeps the state after every part."""

    def __init__(  # noqa: PLR0913
        self,
        run: str | Path,
        tell: Callable[[Answer], None],
        *,
        rules: Sequence[str] = (),
        state_file: Path | None = None,
        webhook: str | None = None,
        pages: Sequence[Path] = (),
        goal: float | None = None,
    ) -> None:
        """``tell`` takes a change; of a rule that is broken, or of what goes wrong, ``step`` and ``rule``, the words.

        Raises:
            UsageError: the address is none of the web, a page has no ending that is known, or the state file or a rule is none.
        """
        from rl_advisor.reading.live import Follower

        if webhook and not webhook.startswith(("http://", "https://")):
            raise UsageError("--webhook takes an address that begins with http:// or https://")
        report_file.look_ahead(pages, ())
        self.run, self.planned, self._goal, self._follower = Path(run), None, goal, Follower(run)
        """``planned``: the plan as a trainer knows it, for a log that does not say it."""
        self.state, self._file, self._url, self._pages, self._tell = load(state_file), state_file, webhook, pages, tell
        self._rules, self._said, self._broke, self._refused = list(map(rule, rules)), set[str](), False, ""

    def read(self) -> "Run":
        """The run as it is now."""
        run = self._follower.read()
        return replace(run, planned_steps=run.planned_steps or self.planned, goal=self._goal)

    def _reported(self, pages: Sequence[Path], to: Sequence[str]) -> Answer:
        run = self.read()
        return report_file.report(run, advisor_named("builtin").assess(run), pages, to, self.run)

    def report(self, pages: Sequence[Path], to: Sequence[str]) -> Iterator[str]:
        """Where the run as it is now was written, and which trackers were told, a line each; or why not: nothing ends of it."""
        targets = [*(((page,), ()) for page in pages), *(((), (tracker,)) for tracker in to)]
        for page, tracker in targets:
            try:
                done = self._reported(page, tracker)
                yield done["told"][0] if tracker else f"report in {done['written']}"
            except Exception as trouble:  # noqa: BLE001 - whatever it is, the training is worth more than our opinion of it
                yield f"no report ({type(trouble).__name__}: {readable(str(trouble), 300)})"

    @property
    def code(self) -> int:
        """The exit code so far: a broken rule of the user's own advises to stop, too; a plan that is done and came out well does not."""
        told = self.state.told
        if self._broke or (told and (told["verdict"] in BROKEN or (told["call"] == "stop" and not ended(self.state)))):
            return STOP
        return HEALTHY if told else UNREADABLE

    def judge(self) -> int:
        """The code after a look at the run as it is now, of which the rules are asked, too."""
        run = self.read()
        self.keep(*heard(self.state, judged(run)))
        self._broke = False
        for own in self._rules:
            try:
                words = own(run)
                self._broke |= bool(words)
            except UsageError as trouble:  # a rule that cannot be asked is told, and breaks nothing
                words = f"a rule cannot be asked ({trouble})"
            if words:
                self.say(run.last_step, words)
        return self.code

    def say(self, step: float, words: str) -> None:
        """Say a line, unless the same was said before but for its numbers."""
        line = readable(words, 500)
        if (key := re.sub(r"[\d.-]", "", line)) not in self._said:
            self._said.add(key)
            self._tell({"step": step, "rule": line})

    def looked(self, files: str) -> bool:
        """Whether files with this digest are new: they are judged; what cannot be read yet is looked at again when it changes."""
        if fresh := files not in ("", self.state.seen):
            self.state = self.state.but(seen=files)
            with suppress(UnreadableRun, FileNotFoundError):
                self.judge()
        else:
            self.deliver()
        return fresh

    def keep(self, state: State, change: Answer | None = None) -> None:
        """First remembered, then said: a kill in between delays a change and never loses it."""
        self._remember(state.but(unsent=(*state.unsent, change)) if change and self._url else state)
        self.deliver()

    def _remember(self, state: State) -> None:
        """Keep the state, in the file too; a kill at any moment leaves either the old or the new one."""
        self.state = state
        if self._file is not None:
            safe_write.put(self._file, state.model_dump_json())

    def deliver(self) -> None:
        """Say what is still to be said; the address of a webhook may be a secret and is not repeated."""
        if self.state.due:
            self._reported(self._pages, ())
            self._tell({"number": self.state.number, **(self.state.latest or {}), **(self.state.told or {})})
            self._remember(self.state.but(due=False))
        while self._url and self.state.unsent:
            if why := webhook.posted(self._url, self.state.unsent[0]):
                if why != self._refused:
                    sys.stderr.write(f"rl-advisor: watch: the webhook took no post ({why}); it is tried again\n")
                self._refused = why
                return
            self._refused = ""
            self._remember(self.state.but(unsent=self.state.unsent[1:]))

    def close(self, wait: Callable[[], None]) -> None:
        """Say the last word, though no look confirmed it; what cannot be posted now stays in the state file for the next start."""
        if self.state.doubted is not None:
            self.keep(*_weighed(self.state, self.state.doubted, ENOUGH))
        for _ in range(3):
            if self._url and self.state.unsent:
                wait()
                self.deliver()
        if self._url and self.state.unsent:
            kept = "the next start posts them" if self._file else "without --state they are lost"
            sys.stderr.write(f"rl-advisor: watch: changes not taken: {len(self.state.unsent)}; {kept}\n")


def watch(  # noqa: PLR0913
    run: Path,
    *,
    every: float,
    idle: float,
    out: Path | None,
    webhook: str | None,
    state_file: Path | None,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    tell: Callable[[Answer], None],
    until_stop: bool = False,
    aside: Path | None = None,
    rules: Sequence[str] = (),
    to: Sequence[str] = (),
    goal: float | None = None,
) -> int:
    """The exit code, once the plan is done, nothing (but ``aside``) was written for ``idle`` s, or, ``until_stop``, stopping is advised.

    Raises FileNotFoundError where there is no such run, UsageError where anything else cannot be what was named.
    """
    report_file.look_ahead((), to)
    pages = [out] if out else []
    voice = Voice(run_folders.existing(run), tell, rules=rules, state_file=state_file, webhook=webhook, pages=pages, goal=goal)
    changed, pause = clock(), every
    voice.deliver()
    while True:
        fresh = voice.looked(run_folders.digest(run, aside))
        changed, pause = (clock(), every) if fresh else (changed, min(2 * pause, LONGEST_PAUSE * every))
        if ended(voice.state) or clock() - changed >= idle or (until_stop and voice.code == STOP):
            break
        sleep(pause)
    voice.close(lambda: sleep(every))
    sys.stderr.writelines(f"rl-advisor: {said}\n" for said in voice.report((), to))
    return voice.code
