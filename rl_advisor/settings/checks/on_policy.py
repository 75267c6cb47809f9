"""How many updates each batch of samples is used for, and what follows for clip fraction, ratio and loss.

Relates: batch size, mini-batch size, passes, accumulation; the micro-batches of sampling and training log-probabilities.
Why: with one update a batch the policy that is updated is the one that sampled: the ratio is 1, nothing is clipped and the loss is near 0,
    all by construction. A clip fraction above 0 then shows that the same tokens get different log-probabilities.
Confirmed by: a clip fraction above 0.001 or a KL to the sampling policy above 0.001 with one update a batch.
Source: TRL documentation, GRPO (num_iterations); verl issue 2996; AReaL's guide on importance weights.
"""

from rl_advisor.finding import number
from rl_advisor.priors.circumstances import updates_per_batch
from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings, said
from rl_advisor.vocabulary import Link

LINK = Link.NUMERICS
SOME = 1e-3
MANY = 64


def check(s: Settings) -> CheckSaid:
    """A fault where the log contradicts the arithmetic; a note where the arithmetic explains zeros."""
    count = updates_per_batch(s.config)
    language = s.around.method in ("grpo", "ppo_language", "language", None)
    if count is None or (s.around.method is None and not s.given("group_size")):
        return NOT_GIVEN
    keys = s.keys("batch_prompts", "mini_batch", "passes", "accumulation", "generation_steps", "micro_batch", "logprob_micro_batch")
    if not language:
        return CheckSaid("fine", f"Each batch is used for {count:g} updates.", keys)
    clip, kl = s.level("ratio/clip_fraction"), s.level("kl/old")
    if count > 1:
        many = " That is a lot: watch clip fraction and KL." if count > MANY else ""
        return CheckSaid("note" if many else "fine", f"Each batch is used for {count:g} updates.{many}", keys)
    if (clip is not None and clip > SOME) or (kl is not None and abs(kl) > SOME):
        shown = f"clip fraction {number(clip)}" if clip is not None and clip > SOME else f"KL to the sampling policy {number(kl or 0)}"
        text = f"Each batch is used for one update, so the ratio should be 1, yet the log shows {shown}:"
        text += " on-policy samples get two different log-probabilities."
        return CheckSaid("fault", f"{text}{_unlike(s)}", keys, _same(s), confirmed=True)
    return CheckSaid(
        "note", f"Each batch is used for one update: clip fraction 0, ratio 1 and a loss near 0 are normal here.{_unlike(s)}", keys
    )


def _unlike(s: Settings) -> str:
    """What may make them differ."""
    training, sampling = s.given("micro_batch"), s.given("logprob_micro_batch")
    if training and sampling and training.number != sampling.number:
        return f" The micro-batches differ ({said((training, sampling))}), and with them padding and kernels."
    return ""


def _same(s: Settings) -> str:
    training, sampling = s.given("micro_batch"), s.given("logprob_micro_batch")
    if training and sampling and training.number != sampling.number:
        return f"Set `{sampling.key}` to {training.value}, as `{training.key}`, and look whether clip_fraction goes to 0."
    return "Compare the log-probabilities of sampling and training on one fixed batch, in the same precision and micro-batch size."
