"""What holds entropy up, and what holds it down.

Relates: the weight of the entropy bonus, the upper clip range, the KL penalty.
Why: an entropy bonus far above usual pays the policy for being random. A raised upper clip (clip-higher) without KL penalty lets entropy
    grow without a limit; no bonus, a low clip and many updates let it collapse.
Confirmed by: entropy that rises while the score does not (bonus, clip-higher), or falls towards 0 early (neither).
Source: DAPO (arXiv 2503.14476) on clip-higher; rllm issue 116; RL Zoo's tuned ent_coef.
"""

import numpy as np

from rl_advisor.priors import prior
from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Given, Settings, said
from rl_advisor.vocabulary import Link

LINK = Link.EXPLORATION
HIGHER = 0.26
LIVELY = 1.0


def check(s: Settings) -> CheckSaid:
    """A fault for a bonus beyond the possible, or where entropy has grown with nothing to hold it; a note for the settings alone."""
    bonus, high, low = s.given("entropy_coef"), s.given("clip_high"), s.given("clip_low")
    keys = s.keys("entropy_coef", "clip_high", "clip_low")
    usual = prior("entropy/coef", s.around) if s.around.method else None
    if bonus and bonus.number is not None and usual is not None and s.around.method != "actor_critic_replay":
        side = usual.side(bonus.number)
        if side == "far_above":
            text = f"{bonus}: {usual.usual[0]:g} to {usual.usual[1]:g} is usual ({usual.source.split(';')[0]}). {usual.above}"
            return CheckSaid("fault", text, keys, f"Set `{bonus.key}` to {usual.usual[1] / 5:g}.")
        if side == "above":
            return CheckSaid(
                "note",
                f"{bonus} is a strong entropy bonus; {usual.usual[1]:g} is the most that is usual.",
                keys,
                f"Halve `{bonus.key}` if entropy rises.",
            )
    if high and (high.number or 0) >= HIGHER and (high.number or 0) < 1 and not (bonus and bonus.number) and _free(s):
        return _raised(s, high, low, keys)
    return CheckSaid("fine", said((bonus, low, high)) + ".", keys) if keys else NOT_GIVEN


def _free(s: Settings) -> bool:
    """Whether no KL penalty is on."""
    switch, weight = s.given("kl_in_loss"), s.given("kl_coef")
    return (switch is not None and switch.value is False) or (switch is None and (weight is None or not weight.number))


def _raised(s: Settings, high: Given, low: Given | None, keys: tuple[str, ...]) -> CheckSaid:
    """What a raised upper clip without a penalty has done so far."""
    text = f"The upper clip is raised ({said((low, high))}) with neither KL penalty nor entropy term: nothing limits entropy from above."
    curve = s.run.curves.get("entropy/mean")
    values = curve.finite()[1] if curve is not None else np.empty(0)
    if values.size >= 8 and np.median(values[-5:]) > max(LIVELY, 2 * np.median(values[:5])):
        grew = f" Entropy has grown from {np.median(values[:5]):.2g} to {np.median(values[-5:]):.2g}."
        return CheckSaid("fault", text + grew, keys, f"Set `{high.key}` to 0.2, or add a KL penalty of 0.001.", confirmed=True)
    return CheckSaid("note", text, keys, f"Watch entropy; if it passes 1, set `{high.key}` to 0.2.")
