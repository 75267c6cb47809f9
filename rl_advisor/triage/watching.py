"""A watch over many runs: looks again and again, and says of each run only what changed since it last spoke of it."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rl_advisor.output.wording import plain
from rl_advisor.tools.watching import ENOUGH, USUAL, State, weighed
from rl_advisor.tools.webhook import Post
from rl_advisor.triage.row import Row
from rl_advisor.triage.store import Store

TOLD = ("urgency", "verdict", "call", "cause")
"""What of a row is worth a message when it changes; a moving probability is no news."""
_AT_FIRST = ("burning", "gamed", "degrading")
"""What the first look speaks of: it has nothing to compare with."""


def watch(  # noqa: PLR0913
    roots: Sequence[str],
    looked: Callable[[], list[Row]],
    store: Store,
    tell: Callable[[Row], None],
    *,
    every: float,
    looks: int | None = None,
    webhook: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Look so many times (for ever where none is given), tell each change once, and post it where a webhook is named.

    What was said is kept in the store, so a watch that is started again goes on. A change that the webhook did not take is posted again at
    the next look; its ``id`` stays the same.

    Raises:
        UsageError: the webhook is no address of the web.
    """
    post = Post(webhook, "triage")
    name, number = hashlib.sha256("\0".join(sorted(roots)).encode("utf-8", "replace")).hexdigest()[:16], 0
    while True:
        number += 1
        said = store.told(name)
        for run, state, change in changes(looked(), said, name):
            if change is not None:
                tell(change)
            unsent = post.left([*state.unsent, *([change] if change else ())])
            store.say(name, run, state.but(unsent=unsent).model_dump(exclude_defaults=True))
        if looks is not None and number >= looks:
            return
        sleep(every)


def changes(rows: Sequence[Row], said: dict[str, Any], watch: str) -> Iterator[tuple[str, State, Row | None]]:
    """Each run of which something is to be remembered, with what is known of it now and the change to tell, if any.

    At first what is urgent is told, then by the rule of ``watch`` on one run: what is sure at once, else when two looks agree.
    """
    for row in rows:
        run, now = row["run"], {name: row.get(name) for name in TOLD}
        if run not in said and now["urgency"] not in _AT_FIRST:
            yield run, State(told=now), None
            continue
        before = State.model_validate(said.get(run, {}))
        sure = before.told is None or now["urgency"] == "unread"
        state, fresh = weighed(before, now, ENOUGH if sure else USUAL[row.get("confidence") or "low"])
        if fresh:
            yield run, state, _change(row, before.told, now, f"{watch}-{_short(run)}-{state.number}")
        elif state != before or state.unsent:
            yield run, state, None


def _short(run: str) -> str:
    return hashlib.sha256(run.encode("utf-8", "replace")).hexdigest()[:12]


def _change(row: Row, before: Row | None, now: Row, key: str) -> Row:
    """The change as a receiver gets it, with one line for a terminal or a chat."""
    was = f" (was {plain(before['verdict'])})" if before and before.get("verdict") else ""
    what = f"{plain(row['verdict'])}{was}, {row['call']}" if row.get("verdict") else f"could not be judged: {row['error']}"
    why = f": {row['why']}" if row.get("why") and row["urgency"] != "sound" else ""
    worth = f"; stopping saves {row['saves_gpu_hours']:.1f} GPU hours" if row.get("saves_gpu_hours") else ""
    kept = {name: row.get(name) for name in ("run", "where", "step", "planned_steps", "p", "best_checkpoint", "saves_gpu_hours", "error")}
    text = f"{time.strftime('%H:%M')} {row['run']}, step {row.get('step')}: {what}{why}{worth}"
    return {"schema": "rl-advisor/triage-change/1", "id": key, **kept, "before": before, "now": now, "text": text}
