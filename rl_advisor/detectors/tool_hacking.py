"""Tools are called for the sake of calling.

Looks for: tool calls a response that rise with the reward, are paid for among responses to one prompt and explain most of its gain; or
    runs of identical calls, or the same call again right after its error, that became common without costing reward; or calls that
    went away altogether while the reward held.
Means: the process reward counts calls, or the result is not checked.
Not to be confused with: longer tasks that need more calls and solve more, and retries after errors of the environment.
Next test: replay the final states of the highest rewarded episodes; pay only for the state reached.
Source: tool use can rise, and collapse within one window, while the state of the task stays as it was.
"""

from rl_advisor.finding import Answer, Outcome, Role, absent
from rl_advisor.output.wording import percent
from rl_advisor.run import Run
from rl_advisor.samples.measured_text import Stretches, stretches
from rl_advisor.samples.text_change import Shift, onset, shift, wilson
from rl_advisor.samples.text_signs import held_out_rose, paid_growth, samples
from rl_advisor.vocabulary import Link

LINK = Link.REWARD_SIGNAL
ROLE = Role.GAMING
WEIGHT = 2.0
NEEDS: tuple[str, ...] = ("rollouts",)
_LOOP = 3
"""Identical calls in a row from which they are called a loop."""


def detect(run: Run) -> Answer:
    """Present when paid calls explain the gain, when identical calls became common and paid, or when calls vanished."""
    s = stretches(run)
    calls, gain = shift(s, "calls"), shift(s, "reward")
    measures = {"calls_first": calls.first, "calls_latest": calls.latest, "reward_first": gain.first, "reward_latest": gain.latest}
    if max(calls.first, calls.latest) < 0.2:
        return absent("The samples hold no tool calls in a known notation.", measures=measures, evidence=(samples(s),))
    sign = paid_growth(s, "calls", "the number of tool calls")
    measures |= dict(sign.measures) if sign else {}
    looping = _loops(s)
    measures |= {"identical_calls_first": looping[3], "identical_calls_share": looping[1]}
    seen = [
        text
        for text in (
            sign.words if sign and sign.there else "",
            looping[2] if looping[0] and not gain.down else "",
            _stubborn(s) if not gain.down else "",
            _vanished(calls, gain),
        )
        if text
    ]
    if not seen:
        text = f"Tool calls a response went {calls.words}, the reward of the samples {gain.words}: the calls are not what is rewarded."
        return absent(text, measures=measures, evidence=(samples(s),))
    text = "; ".join(seen)
    better = bool(held_out_rose(run))
    text = text[0].upper() + text[1:] + ("; the held-out score rose too." if better else ".")
    outcome = Outcome.UNCLEAR if better else Outcome.PRESENT
    return Answer(outcome, text, None if better else onset(s, "calls"), measures, (samples(s),))


def _loops(s: Stretches) -> tuple[bool, float, str, float]:
    """Whether runs of identical calls became common: that, their share, in words, and their share at the start."""
    first, latest = ((part["identical_calls"] >= _LOOP) for part in (s.first, s.latest))
    low, _ = wilson(int(latest.sum()), len(latest))
    _, before = wilson(int(first.sum()), len(first))
    share, begin = float(latest.mean()), float(first.mean())
    return (
        low > max(before, 0.1),
        share,
        f"{percent(share)} of the responses make {_LOOP} or more identical calls in a row ({percent(begin)} at the start)",
        begin,
    )


def _stubborn(s: Stretches) -> str:
    """What is seen when making a failed call again, unchanged, became common; empty otherwise."""
    first, latest = ((part["error_retries"] > 0) for part in (s.first, s.latest))
    low, _ = wilson(int(latest.sum()), len(latest))
    _, before = wilson(int(first.sum()), len(first))
    if low <= max(before, 0.1):
        return ""
    shares = f"{percent(float(latest.mean()))} of the responses ({percent(float(first.mean()))} at the start)"
    return f"{shares} repeat a call unchanged right after its error"


def _vanished(calls: Shift, gain: Shift) -> str:
    gone = calls.first >= 0.5 and calls.down and calls.latest < 0.1 * calls.first and not gain.down
    return f"tool calls a response went {calls.words} while the reward did not fall" if gone else ""
