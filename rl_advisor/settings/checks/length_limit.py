"""The length limit against the lengths that are seen.

Relates: the most tokens an answer may have, the share of cut answers, observed lengths, and what is done with cut answers.
Why: a cut answer is graded as a failure whatever it would have said. When many are cut, the reward measures length.
Confirmed by: a truncated share above a tenth, a mean length near the limit, a reward that jumps
    when one evaluation runs with twice the limit.
Source: DAPO (arXiv 2503.14476), overlong filtering and soft punishment; AReaL's guide, no_eos_ratio.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.ENVIRONMENT_DATA
MANY, NEAR = 0.1, 0.9


def check(s: Settings) -> CheckSaid:
    """A note where answers press against the limit; confirmed by the log."""
    limit, cut, length = s.given("max_response"), s.level("response/truncated"), s.level("response/length")
    if limit is None or not limit.number:
        return NOT_GIVEN
    keys = s.keys("max_response", "mask_truncated")
    masked = s.given("mask_truncated")
    does = f"Double `{limit.key}`" + ("" if masked and masked.value else ", or mask cut answers out of the loss") + "."
    if cut is not None and cut > MANY:
        return CheckSaid(
            "note",
            f"{100 * cut:.0f} % of the answers are cut at {limit}: they are graded as failures whatever they say.",
            keys,
            does,
            confirmed=True,
        )
    if length is not None and length > NEAR * limit.number:
        return CheckSaid("note", f"Answers are {length:.0f} tokens long on average, close to {limit}.", keys, does, confirmed=True)
    seen = f"; answers are {length:.0f} tokens long on average" if length is not None else ""
    return CheckSaid("fine", f"{limit}{seen}.", keys)
