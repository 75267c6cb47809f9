"""How we call things: the links of the training loop, the metrics, and what a framework's dialect is.

Every name that a detector, an advisor or a report uses is defined here and nowhere else. A name that ends in ``/*`` is a
family: ``reward/component/format`` is a member of ``reward/component/*``.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path


class Link(StrEnum):
    """A stage of the training loop, declared in the order in which to suspect it: outside in."""

    ENVIRONMENT_DATA = "environment_data"
    EVALUATION = "evaluation"
    REWARD_SIGNAL = "reward_signal"
    TRAINING_SIGNAL = "training_signal"
    POLICY_UPDATE = "policy_update"
    EXPLORATION = "exploration"
    DATA_FRESHNESS = "data_freshness"
    NUMERICS = "numerics"
    SYSTEMS = "systems"


@dataclass(frozen=True)
class Metric:
    """One thing a trainer can log, in our words."""

    name: str
    link: Link
    unit: str
    meaning: str
    better: int = 0
    """1 when higher is better, -1 when lower is, 0 when neither can be said."""


_M = Metric
_L = Link
METRICS: Mapping[str, Metric] = {
    m.name: m
    for m in (
        _M("reward/mean", _L.REWARD_SIGNAL, "reward", "Mean reward of the sampled responses or episodes, as the task gave it.", 1),
        _M("reward/used", _L.REWARD_SIGNAL, "reward", "Mean reward the update used, after penalties, filters or normalisation.", 1),
        _M("reward/std", _L.REWARD_SIGNAL, "reward", "Spread of the reward over the batch."),
        _M("reward/group_std", _L.TRAINING_SIGNAL, "reward", "Mean spread of the reward inside a group of responses to one prompt."),
        _M("reward/min", _L.REWARD_SIGNAL, "reward", "Lowest reward of the batch."),
        _M("reward/max", _L.REWARD_SIGNAL, "reward", "Highest reward of the batch."),
        _M("reward/component/*", _L.REWARD_SIGNAL, "reward", "Mean of one part of the reward, before weights.", 1),
        _M("reward/component_std/*", _L.REWARD_SIGNAL, "reward", "Spread of one part of the reward."),
        _M("reward/flat_groups", _L.TRAINING_SIGNAL, "share", "Share of groups whose responses all got the same reward."),
        _M("reward/solved_groups", _L.TRAINING_SIGNAL, "share", "Share of groups in which every response was right."),
        _M("reward/failed_groups", _L.TRAINING_SIGNAL, "share", "Share of groups in which every response was wrong."),
        _M("reward/success", _L.REWARD_SIGNAL, "share", "Share of training episodes that succeeded.", 1),
        _M("pairs/accuracy", _L.REWARD_SIGNAL, "share", "Share of pairs of which the preferred answer is scored higher.", 1),
        _M("pairs/loss", _L.REWARD_SIGNAL, "", "Loss of a reward model on its pairs, its sign turned.", 1),
        _M("pairs/margin", _L.REWARD_SIGNAL, "", "How much higher the preferred answer of a pair is scored: it can grow while both sink."),
        _M("pairs/chosen", _L.POLICY_UPDATE, "", "Implicit reward of preferred answers: beta times how much likelier than before."),
        _M("pairs/rejected", _L.POLICY_UPDATE, "", "Implicit reward of rejected answers: beta times how much likelier than before."),
        _M("pairs/logp_chosen", _L.POLICY_UPDATE, "nats", "Log-probability of the preferred answers."),
        _M("pairs/logp_rejected", _L.POLICY_UPDATE, "nats", "Log-probability of the rejected answers."),
        _M("eval/score/*", _L.EVALUATION, "score", "Score on held-out data or in separate evaluation episodes.", 1),
        _M("eval/length", _L.EVALUATION, "tokens or env steps", "Length of responses or episodes in evaluation."),
        _M("eval/other/*", _L.EVALUATION, "", "Anything else measured in evaluation."),
        _M("advantage/mean", _L.TRAINING_SIGNAL, "reward", "Mean advantage."),
        _M("advantage/std", _L.TRAINING_SIGNAL, "reward", "Spread of the advantage."),
        _M("advantage/min", _L.TRAINING_SIGNAL, "reward", "Lowest advantage."),
        _M("advantage/max", _L.TRAINING_SIGNAL, "reward", "Highest advantage."),
        _M("value/loss", _L.TRAINING_SIGNAL, "", "Error of the critic or of the Q function."),
        _M("value/explained_variance", _L.TRAINING_SIGNAL, "share", "1 - Var(return - value) / Var(return).", 1),
        _M("value/mean", _L.TRAINING_SIGNAL, "reward", "Mean predicted value or Q value."),
        _M("value/return_mean", _L.TRAINING_SIGNAL, "reward", "Mean return the critic is fitted to."),
        _M("value/clip_fraction", _L.TRAINING_SIGNAL, "share", "Share of clipped value updates."),
        _M("policy/loss", _L.POLICY_UPDATE, "", "Policy loss. Its sign and level say nothing about progress."),
        _M("policy/total_loss", _L.POLICY_UPDATE, "", "Everything that is minimised, penalties included."),
        _M("policy/grad_norm", _L.POLICY_UPDATE, "", "Norm of the gradient before clipping."),
        _M("policy/learning_rate", _L.POLICY_UPDATE, "", "Learning rate."),
        _M("policy/std", _L.EXPLORATION, "action", "Standard deviation of a Gaussian policy."),
        _M("ratio/mean", _L.POLICY_UPDATE, "", "Mean new over old probability; 1 on fresh data."),
        _M("ratio/max", _L.POLICY_UPDATE, "", "Largest new over old probability."),
        _M("ratio/min", _L.POLICY_UPDATE, "", "Smallest new over old probability."),
        _M("ratio/clip_fraction", _L.POLICY_UPDATE, "share", "Share of samples that the trust region clipped."),
        _M("ratio/clip_low", _L.POLICY_UPDATE, "share", "Share clipped at the lower side."),
        _M("ratio/clip_high", _L.POLICY_UPDATE, "share", "Share clipped at the upper side."),
        _M("ratio/clip_range", _L.POLICY_UPDATE, "", "Half width of the trust region."),
        _M("ratio/dual_clip_fraction", _L.POLICY_UPDATE, "share", "Share clipped by the dual clip of negative advantages."),
        _M("kl/ref", _L.POLICY_UPDATE, "nats", "KL from the reference policy: drift since the start."),
        _M("kl/ref_coef", _L.POLICY_UPDATE, "", "Weight of the KL penalty."),
        _M("kl/old", _L.POLICY_UPDATE, "nats", "KL from the policy that sampled: size of one update."),
        _M("kl/mismatch", _L.DATA_FRESHNESS, "nats", "Trainer against inference engine on the same tokens."),
        _M("mismatch/logprob", _L.DATA_FRESHNESS, "nats", "Mean absolute log-probability gap, trainer against engine."),
        _M("mismatch/logprob_max", _L.DATA_FRESHNESS, "nats", "Largest log-probability gap, trainer against engine."),
        _M("mismatch/prob", _L.DATA_FRESHNESS, "share", "Mean absolute probability gap, trainer against engine."),
        _M("mismatch/correlation", _L.DATA_FRESHNESS, "", "Correlation of probabilities, trainer against engine; 1 is right.", 1),
        _M("entropy/mean", _L.EXPLORATION, "nats", "Entropy of the policy; positive for discrete choices."),
        _M("entropy/sum", _L.EXPLORATION, "nats", "Entropy added up over a whole response: it grows with its length."),
        _M("entropy/coef", _L.EXPLORATION, "", "Weight of the entropy bonus, or SAC's temperature."),
        _M("entropy/coef_loss", _L.EXPLORATION, "", "Loss of SAC's temperature."),
        _M("exploration/rate", _L.EXPLORATION, "share", "Share of random actions (epsilon)."),
        _M("response/length", _L.ENVIRONMENT_DATA, "tokens", "Mean length of a response."),
        _M("response/length_min", _L.ENVIRONMENT_DATA, "tokens", "Shortest response."),
        _M("response/length_max", _L.ENVIRONMENT_DATA, "tokens", "Longest response."),
        _M("response/finished_length", _L.ENVIRONMENT_DATA, "tokens", "Mean length of the responses that ended by themselves."),
        _M("response/truncated", _L.ENVIRONMENT_DATA, "share", "Share of responses cut at the length limit."),
        _M("response/padded_max", _L.ENVIRONMENT_DATA, "share", "Share as long as the longest of the batch; never 0, no truncation rate."),
        _M("response/correct_length", _L.REWARD_SIGNAL, "tokens", "Mean length of right responses."),
        _M("response/wrong_length", _L.REWARD_SIGNAL, "tokens", "Mean length of wrong responses."),
        _M("response/aborted", _L.SYSTEMS, "share", "Share of responses that were aborted."),
        _M("response/repetition", _L.EXPLORATION, "share", "Share of responses that repeat themselves."),
        _M("prompt/length", _L.ENVIRONMENT_DATA, "tokens", "Mean length of a prompt."),
        _M("episode/length", _L.ENVIRONMENT_DATA, "env steps", "Mean length of an episode."),
        _M("episode/turns", _L.ENVIRONMENT_DATA, "turns", "Mean turns of an episode."),
        _M("episode/tool_calls", _L.ENVIRONMENT_DATA, "calls", "Mean tool calls of an episode."),
        _M("episode/tool_failures", _L.ENVIRONMENT_DATA, "share", "Share of tool calls that failed."),
        _M("episode/errors", _L.ENVIRONMENT_DATA, "share", "Share of episodes that ended in an error."),
        _M("episode/tools", _L.EXPLORATION, "tools", "Different tools used in an episode that calls any."),
        _M("episode/calls/*", _L.EXPLORATION, "calls", "Mean calls of one tool in an episode."),
        _M("episode/first_call", _L.ENVIRONMENT_DATA, "turns", "Turn of an episode's first tool call."),
        _M("episode/repeated_calls", _L.EXPLORATION, "share", "Share of tool calls made before in the same episode."),
        _M("episode/idle_turns", _L.ENVIRONMENT_DATA, "share", "Share of tool answers that the episode had seen before."),
        _M("episode/corrections", _L.EXPLORATION, "times", "How often an episode corrects itself."),
        _M("episode/thinking", _L.ENVIRONMENT_DATA, "words", "Words of thinking of an episode."),
        _M("episode/control_tokens", _L.ENVIRONMENT_DATA, "share", "Share of episodes with control tokens in their text."),
        _M("episode/pretended", _L.REWARD_SIGNAL, "share", "Share of episodes that pretend a tool's answer or a call never made."),
        _M("episode/alike", _L.EXPLORATION, "share", "Share of episodes that another one of their group repeats call for call."),
        _M("rollout/staleness", _L.DATA_FRESHNESS, "versions", "Policy versions between sampling and use, mean."),
        _M("rollout/staleness_max", _L.DATA_FRESHNESS, "versions", "Policy versions between sampling and use, maximum."),
        _M("rollout/dropped", _L.DATA_FRESHNESS, "samples", "Samples thrown away as too old."),
        _M("rollout/behave_weight", _L.DATA_FRESHNESS, "", "Mean weight of proximal over behaviour policy; 1 on fresh data."),
        _M("rollout/effective_share", _L.DATA_FRESHNESS, "share", "Effective sample size over sample size.", 1),
        _M("progress/epoch", _L.ENVIRONMENT_DATA, "epochs", "Passes over the training data."),
        _M("progress/tokens", _L.SYSTEMS, "tokens", "Tokens seen so far."),
        _M("progress/episodes", _L.SYSTEMS, "episodes", "Episodes so far."),
        _M("progress/updates", _L.SYSTEMS, "updates", "Gradient updates so far."),
        _M("progress/env_steps", _L.SYSTEMS, "env steps", "Environment steps so far."),
        _M("time/step", _L.SYSTEMS, "s", "Seconds of one training step."),
        _M("time/elapsed", _L.SYSTEMS, "s", "Seconds since the start."),
        _M("time/phase/*", _L.SYSTEMS, "s", "Seconds of one phase of a step."),
        _M("throughput/tokens", _L.SYSTEMS, "tokens/s", "Tokens per second.", 1),
        _M("throughput/env_steps", _L.SYSTEMS, "env steps/s", "Environment steps per second.", 1),
        _M("memory/allocated", _L.SYSTEMS, "GiB", "Largest GPU memory allocated."),
        _M("numerics/update_ok", _L.NUMERICS, "share", "Share of updates with a finite gradient.", 1),
    )
}


@lru_cache(maxsize=1024)
def metric(name: str) -> Metric | None:
    """The metric of that name, by its family when it has no entry of its own; None for a name that is not ours."""
    if name in METRICS:
        return METRICS[name]
    return next((m for family, m in METRICS.items() if family.endswith("/*") and name.startswith(family[:-1])), None)


@dataclass(frozen=True)
class Dialect:
    """What one framework calls things. Pure data; the patterns are full-match regular expressions."""

    name: str
    marks: tuple[str, ...]
    """Raw names that only this framework writes; the framework is recognised by how many of them are seen."""
    metrics: Mapping[str, str]
    """Raw name -> our name."""
    patterns: tuple[tuple[str, str], ...] = ()
    """Raw pattern -> template of our name; tried in order after ``metrics``."""
    prefixes: tuple[str, ...] = ()
    """Prefixes that a sink puts before every raw name (``train/`` in TensorBoard); taken off before looking up."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Raw name -> our name it takes where another raw name has taken its own: a filtered reward beside that of all samples."""
    affine: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Raw name -> (scale, offset) that turn the framework's number into ours: (-1, 0) where the sign differs."""
    step: str = "updates"
    """What the step axis counts: updates, iterations, env steps, episodes."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Our name -> what is special here: the KL estimator, a window, a proxy."""
    trailing: Mapping[str, int] = field(default_factory=dict)
    """Raw name -> the number of past episodes that each value is the mean of."""
    rollouts: Mapping[str, str] = field(default_factory=dict)
    """Column of a rollout dump -> our column (prompt, response, reward, advantage, group, step, ...)."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Key of the framework's configuration -> our key (planned_steps, learning_rate, kl_coef, ...)."""
    switches: Mapping[str, str] = field(default_factory=dict)
    """What an experiment may turn (see ``judgement/settings_to_change.py``) -> how this framework spells it, value and all."""


@cache
def _english() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """What is called otherwise in other languages, as a pattern, and the English word for each."""
    told = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
    known = {theirs: ours for ours, names in told.items() for theirs in names}
    longest = sorted(known, key=lambda name: -len(name))
    return re.compile("|".join(name if name > "\u2e80" else rf"\b{name}\b" for name in longest)), known


@lru_cache(maxsize=1 << 15)
def words(raw: str) -> str:
    """The words of a raw name in English, in lower case, with single spaces between."""
    pattern, known = _english()
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", raw).lower()
    return re.sub(r"[^a-z0-9]+", " ", pattern.sub(lambda word: f" {known[word[0]]} ", split)).strip()
