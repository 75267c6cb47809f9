"""How old samples may be when they are used, and whether that is corrected for.

Relates: the depth of asynchronous sampling, the cap on importance weights.
Why: samples of older policies are off-policy data. A few versions do little harm when they are weighted and the weights are capped;
    without either the update is computed for a policy that is gone.
Confirmed by: importance weights away from 1, a reward that see-saws, both better at depth 0.
Source: AReaL's guide (max_head_offpolicyness 0 to test); prime-rl documentation, async level.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
DEEP = 8


def check(s: Settings) -> CheckSaid:
    """A note for depth without correction, or beyond eight versions."""
    depth, cap = s.given("staleness"), s.given("weight_cap")
    keys = s.keys("staleness", "weight_cap")
    if depth is None or depth.number is None:
        return NOT_GIVEN
    if depth.number > DEEP:
        return CheckSaid("note", f"{depth}: samples may be that many versions old.", keys, f"Set `{depth.key}` to 2 and compare.")
    if depth.number > 0 and not (cap and cap.value):
        return CheckSaid(
            "note", f"{depth} and no cap on importance weights is given.", keys, "Switch the correction on, with a cap of 2 to 5."
        )
    return CheckSaid("fine", f"{depth}.", keys)
