"""A method that compares the answers to one prompt needs more than one of them.

Relates: the answers sampled for each prompt and the advantage estimator.
Why: GRPO, RLOO and their kin subtract the mean of the group. In a group of one every advantage is 0, or the raw reward; in groups of two
    half of them carry no information.
Confirmed by: a gradient norm of 0, or a share of groups without spread of 1.
Source: DeepSeekMath (arXiv 2402.03300); TRL and verl documentation of num_generations and rollout.n.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL
COMPARES = ("grpo", "rloo", "gspo", "dapo")
FEW = 4


def check(s: Settings) -> CheckSaid:
    """A fault for a group of one under a method that compares; a note for groups below four."""
    size = s.given("group_size")
    if size is None or size.number is None:
        return NOT_GIVEN
    compares = any(word in s.words("algorithm") for word in COMPARES) or size.key.endswith("num_generations")
    if size.number <= 1 and compares:
        return CheckSaid(
            "fault", f"{size}: there is nothing to compare an answer with, so no advantage.", (size.key,), f"Set `{size.key}` to 8."
        )
    if size.number < FEW and compares:
        return CheckSaid("note", f"{size}: groups this small are often without spread.", (size.key,), f"Set `{size.key}` to 8.")
    return CheckSaid("fine", f"{size}.", (size.key,))
