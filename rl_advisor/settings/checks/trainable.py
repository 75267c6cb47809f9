"""Whether anything is trained.

Relates: adapters, frozen parts, offloaded optimizer states; gradient norm, loss and KL in the log.
Why: an adapter that is attached to nothing, parameters frozen by a flag, or optimizer states that never come back leave a run that samples
    and grades for days without a single change.
Confirmed by: gradient norm, loss and KL exactly 0 on every row while rewards have a spread; ``trainable params: 0``.
Source: EchoInk issue 4; PEFT print_trainable_parameters; ms-swift issue 5890.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings, said
from rl_advisor.vocabulary import Link

LINK = Link.POLICY_UPDATE


def check(s: Settings) -> CheckSaid:
    """A fault where nothing is trainable, or an adapter with offloaded states shows no gradient; a note for that combination alone."""
    trainable, lora, offload = s.given("trainable"), s.given("lora"), s.given("offload_optimizer")
    keys = s.keys("trainable", "lora", "offload_optimizer")
    if trainable is not None and "trainable" in trainable.key and trainable.number == 0:
        return CheckSaid("fault", f"{trainable}: nothing is trained.", keys, "Look at the adapter's target modules and at what is frozen.")
    dead = s.level("policy/grad_norm") == 0 and (s.level("reward/std", "reward/group_std") or 0) > 0
    if lora and lora.value and offload and offload.value not in (False, "none", "no"):
        text = f"An adapter with offloaded optimizer states ({said((lora, offload))}): updates have been lost in this combination."
        do = "Run ten steps without offloading and look whether grad_norm and KL move."
        return CheckSaid("fault" if dead else "note", text + (" The gradient norm is 0." if dead else ""), keys, do, confirmed=dead)
    return CheckSaid("fine", said((trainable, lora, offload)) + ".", keys) if keys else NOT_GIVEN
