"""Under which circumstances a run trains, as far as what it left behind says: method, framework, weights, updates a batch, actions."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rl_advisor.curves.task import METHOD, SPEAKING, WITHOUT_REWARD, task
from rl_advisor.reading.parsing.config.values import typed
from rl_advisor.run import Run
from rl_advisor.settings.priors import Circumstances
from rl_advisor.vocabulary.dialects import dialects

_LORA = re.compile(
    r"(?:^|[._-])(?:use_peft|is_peft_model|use_lora|lora_rank|lora_r|lora_alpha|peft_config|lora_target_modules|lora_modules)$"
)
_SIZE = re.compile(r"(?<![0-9a-z])\d{1,3}(?:\.\d{1,3})?[bm](?![0-9a-z])", re.IGNORECASE)


@lru_cache(maxsize=8)
def circumstances(run: Run, phase: str | None = None) -> Circumstances:
    """What is known of a run's circumstances; what nothing says is None."""
    return Circumstances(
        method=method(run),
        framework=run.frameworks[0] if run.frameworks else None,
        phase=phase,
        weights=weights(run.config, run.settings),
        updates=updates(run.config),
        action=_action(run),
    )


def method(run: Run) -> str | None:
    """How the run learns, by the name of its algorithm or by what it logs; None where neither tells."""
    known, named = task(run), _named(run)
    own = next((d.method for f in run.frameworks if (d := dialects().get(f)) and d.method), None)
    if known.kind in WITHOUT_REWARD | {"diffusion", "evolution"}:
        return known.kind
    if known.traits & SPEAKING:
        with_critic = any(name in run.curves for name in METHOD["critic"]) or "ppo" in (named, own)
        return "grpo" if named == "grpo" else "ppo_language" if with_critic else "grpo" if run.curves else "language"
    told = next((told for name, told in METHOD["telling"].items() if name in run.curves), None)
    return named or (told if told == "actor_critic_replay" else own or told)


def _named(run: Run) -> str | None:
    """The method by the name that the configuration gives the algorithm."""
    names = [run.settings.get("algorithm"), run.config.get("algo"), run.config.get("algorithm"), run.config.get("trainer")]
    text = " ".join(str(n)[:60].lower() for n in names if isinstance(n, str))
    return next((told for told, words in METHOD["words"].items() if re.search(rf"(?<![a-z])(?:{words})(?![a-z])", text)), None)


def weights(config: Mapping[str, Any], settings: Mapping[str, Any]) -> str | None:
    """Whether an adapter or a whole pretrained model is trained; None where nothing says it."""
    told = [value for key, value in config.items() if _LORA.search(str(key).lower())]
    said = str(settings.get("weights", "")).lower()
    if said.endswith("lora") or any(v not in (None, False, 0, "", "none", "None", "false", "False", "0") for v in told):
        return "lora"
    names = [str(v)[:200] for k, v in config.items() if isinstance(v, str) and "model" in str(k).lower()]
    pretrained = any(_SIZE.search(name) for name in [*names, str(settings.get("model", ""))[:200]])
    return "full" if said == "full" or (told and pretrained) else "pretrained" if pretrained else None


def updates(config: Mapping[str, Any]) -> str | None:
    """Whether each batch of samples is used for ``one`` update or for ``several``; None where the configuration does not say."""
    count = updates_per_batch(config)
    return None if count is None else "one" if count <= 1 else "several"


def updates_per_batch(config: Mapping[str, Any]) -> float | None:
    """How many gradient updates a batch of samples is used for, by the arithmetic of the configuration; None where keys are missing."""
    passes = _number(config, "num_iterations", "ppo_epochs", "n_epochs", "noptepochs", "update_epochs", "num_epoch")
    pieces = _pieces(config)
    return None if passes is None or pieces is None else passes * pieces


def _pieces(config: Mapping[str, Any]) -> float | None:
    """Optimizer steps of one pass over a batch."""
    whole, part = _number(config, "train_batch_size"), _number(config, "ppo_mini_batch_size")
    if whole and part:
        return whole / part
    sampled, accumulated = _number(config, "steps_per_generation"), _number(config, "gradient_accumulation_steps")
    if sampled and accumulated:
        return sampled / accumulated
    rollout, envs, batch = _number(config, "n_steps"), _number(config, "n_envs"), _number(config, "batch_size")
    if rollout and batch:
        return (envs or 1.0) * rollout / batch
    return _number(config, "nminibatches", "num_minibatches", "num_mini_batches")


def _number(config: Mapping[str, Any], *names: str) -> float | None:
    """The number under the first of the names, wherever in the configuration a key ends in it."""
    for name in names:
        for key, value in config.items():
            number = typed(value) if str(key).rpartition(".")[2].replace("-", "_") == name else None
            if isinstance(number, int | float) and not isinstance(number, bool):
                return float(number)
    return None


def _action(run: Run) -> str | None:
    """Whether actions are continuous, where the log shows it."""
    entropy = run.curves.get("entropy/mean")
    below = entropy is not None and entropy.numbers.size and float(entropy.numbers.min()) < 0
    return "continuous" if "policy/std" in run.curves or below else None
