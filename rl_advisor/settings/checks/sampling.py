"""Answers are drawn from another distribution than the one whose probabilities are taken.

Relates: top_p, top_k, a least length and the temperature of training; the same settings of the evaluation.
Why: the trainer takes log-probabilities of the whole softmax. With top_k, top_p or a forced length the answers come from a part of it, so
    ratios and KL are estimated for a policy that nobody sampled: KL turns negative, and a penalty on it pays for drift.
Confirmed by: a KL to the reference that is clearly below zero, or a gap between the engine's log-probabilities and the trainer's at step 1.
Source: TRL documentation, PPO, 'Why do I see negative KL'; TRL issue 615.
"""

from rl_advisor.settings.given import NOT_GIVEN, CheckSaid, Settings, said
from rl_advisor.vocabulary import Link

LINK = Link.DATA_FRESHNESS
COLD, HOT = 0.3, 1.6
NARROW = 0.95


def check(s: Settings) -> CheckSaid:
    """A fault where a part of the distribution is cut off and the KL shows it, or an end is forbidden; a note for milder cuts."""
    top_p, top_k, least = s.number("top_p"), s.number("top_k"), s.number("min_length")
    if s.around.method in ("dqn", "ppo", "a2c", "actor_critic_replay", "control", "on_policy"):
        return NOT_GIVEN
    keys = s.keys("top_p", "top_k", "min_length", "temperature")
    cuts = [name for name, on in (("top_p", top_p is not None and 0 < top_p < 1), ("top_k", bool(top_k and top_k > 0))) if on]
    forced = bool(least and least > 1)
    kl = s.level("kl/ref")
    below = kl is not None and kl < -0.01
    what = said(s.given(name) for name in ("top_p", "top_k", "min_length"))
    if forced or (cuts and below):
        shown = f" KL to the reference stands at {kl:.3g}, below zero, as that predicts." if below else ""
        text = f"Generation is cut ({what}), while log-probabilities are taken of the whole distribution: KL comes out too low or negative."
        return CheckSaid(
            "fault", text + shown, keys, "Sample with `top_p` 1, `top_k` off and no `min_length` in training.", confirmed=below
        )
    if differs := _differs(s):
        return CheckSaid("note", differs, keys, "Evaluate once with the sampling of training; then differences come from the model.")
    if cuts and ((top_p or 1) < NARROW or "top_k" in cuts):
        return CheckSaid("note", f"Sampling is cut ({what}): log-probabilities do not follow it, so KL and ratios are a little off.", keys)
    return CheckSaid("fine", "Training samples from the distribution whose log-probabilities are taken.", keys) if keys else NOT_GIVEN


def _differs(s: Settings) -> str:
    """How the sampling of the evaluation differs from that of training, greedy decoding aside; empty where it does not."""
    pairs = (("temperature", "eval_temperature"), ("top_k", "eval_top_k"), ("top_p", "eval_top_p"))
    found = [(s.given(a), s.given(b)) for a, b in pairs]
    unlike = [f"{a} but {b}" for a, b in found if a and b and a.number != b.number and b.number not in (0, None)]
    joined = "; ".join(unlike)
    return f"Training and evaluation sample differently ({joined}): train reward and evaluation scores do not compare." if unlike else ""
