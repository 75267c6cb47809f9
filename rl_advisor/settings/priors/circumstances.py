"""Under which circumstances a run trains, as far as what it left behind says: method, framework, weights, updates a batch, actions."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rl_advisor.curves.task import METHOD, SPEAKING, WITHOUT_REWARD, task
from rl_advisor.run import Run
from rl_advisor.settings.given import settings_of
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
        updates=None if (count := updates_per_batch(run)) is None else "one" if count <= 1 else "several",
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


def updates_per_batch(run: Run) -> float | None:
    """How many gradient updates a batch of samples is used for, by the arithmetic of the configuration; None where keys are missing."""
    number = settings_of(run).number
    sampled = number("n_steps")
    for whole, part in (
        (number("train_batch_size"), number("ppo_mini_batch_size")),
        (number("steps_per_generation"), number("gradient_accumulation_steps")),
        (sampled and sampled * (number("n_envs") or 1.0), number("batch_size")),
    ):
        if whole and part:
            pieces: float | None = whole / part
            break
    else:
        pieces = number("minibatches")
    passes = number("passes")
    return None if passes is None or pieces is None else passes * pieces


def _action(run: Run) -> str | None:
    """Whether actions are continuous, where the log shows it."""
    entropy = run.curves.get("entropy/mean")
    below = entropy is not None and entropy.numbers.size and float(entropy.numbers.min()) < 0
    return "continuous" if "policy/std" in run.curves or below else None
