"""How much GPU memory a set-up will need before it is started, part by part, and what to reduce first.

Sources of the formulas: parameters from the shapes of a Llama-type model; 16 bytes a parameter for mixed-precision Adam and its
sharding in three stages from Rajbhandari et al. 2020 (ZeRO); activations of a layer from Korthikanti et al. 2022; keys and values
from Kwon et al. 2023 (two vectors a layer, head and token); low-rank adapters from Hu et al. 2022.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rl_advisor.discovery import table
from rl_advisor.output import Answer

LARGEST = 1 << 20
"""Bytes of a config.json; a model's has a few thousand."""
GIB = 2**30
HALF, FULL = 2, 4
"""Bytes of a number in bfloat16 and in float32."""
ADAM = 12
"""Bytes a trained parameter of Adam's two moments and the master copy, all in float32."""
ACTIVATION_BYTES = 34
"""Bytes a token and unit of width that one layer keeps for its backward pass, attention scores being recomputed."""
FIXED_GIB = 1.5
"""What a process holds besides: context, communication buffers, fragments. A guess, not a formula."""

ADVICE = table(__file__, "memory.toml")


@dataclass(frozen=True)
class ModelShape:
    """What of a model's configuration decides its memory."""

    width: int
    layers: int
    inner: int
    vocabulary: int
    heads: int
    kv_heads: int
    head_width: int
    tied: bool

    @property
    def parameters(self) -> int:
        """Number of parameters of a Llama-type model with these shapes."""
        attention = self.width * self.head_width * (2 * self.heads + 2 * self.kv_heads)
        layer = attention + 3 * self.width * self.inner + 2 * self.width
        return self.layers * layer + self.vocabulary * self.width * (1 if self.tied else 2) + self.width


@dataclass(frozen=True)
class Setup:
    """How the model is trained; batches are those of one GPU."""

    gpus: int = 1
    stage: int = 0
    """What is sharded: 1 the optimizer's state, 2 gradients too, 3 weights too (as FSDP does); 0 nothing."""
    lora_rank: int = 0
    micro_batch: int = 1
    tokens: int = 2048
    """Prompt and response together."""
    sampled_at_once: int = 0
    """Responses that are sampled at once on this GPU; 0 where another machine samples."""
    recompute: bool = True
    reference: bool = True
    critic: bool = False
    reward_model: bool = False


def shape_of(config: Mapping[str, Any]) -> ModelShape:
    """The shape in a model's ``config.json``.

    Raises:
        ValueError: a number that is needed is missing or is no positive integer; the message names it.

    """

    def need(*names: str, default: int | None = None) -> int:
        value = next((config[n] for n in names if config.get(n) is not None), default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"the model's configuration has no positive whole number {' or '.join(names)}: {value!r}")
        return value

    width, heads = need("hidden_size", "n_embd", "d_model"), need("num_attention_heads", "n_head", "num_heads")
    return ModelShape(
        width=width,
        layers=need("num_hidden_layers", "n_layer", "num_layers"),
        inner=need("intermediate_size", "n_inner", "d_ff", default=4 * width),
        vocabulary=need("vocab_size"),
        heads=heads,
        kv_heads=need("num_key_value_heads", default=heads),
        head_width=need("head_dim", default=max(width // heads, 1)),
        tied=bool(config.get("tie_word_embeddings", False)),
    )


def trained_parameters(shape: ModelShape, rank: int) -> int:
    """Parameters that are trained: all, or two thin matrices beside every projection of every layer."""
    if not rank:
        return shape.parameters
    q, kv = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    sides = 2 * (shape.width + q) + 2 * (shape.width + kv) + 3 * (shape.width + shape.inner)
    return rank * sides * shape.layers


def of_file(config: Path, **setup: Any) -> Answer:
    """The estimate for the model that a ``config.json`` describes.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it describes no model, or ``setup`` holds something else; the message says what.
    """
    if not config.is_file():
        raise FileNotFoundError(f"no file {config}; a model's config.json is needed")
    if config.stat().st_size > LARGEST:
        raise ValueError(f"{config.name} is no model's config.json: it is larger than {LARGEST} bytes")
    try:
        return estimate(shape_of(json.loads(config.read_text(encoding="utf-8"))), Setup(**setup))
    except (ValueError, KeyError, TypeError, RecursionError) as unfit:
        raise ValueError(f"{config.name} does not describe a model: {unfit}") from unfit


def estimate(shape: ModelShape, setup: Setup) -> Answer:
    """Memory of one GPU in GiB: each part, the sum, and what to reduce first (the largest part that can be).

    Frozen copies have the actor's shape and are sharded as its weights are. With adapters the actor itself, adapters off, is
    the reference.
    """
    parts = {name: size / GIB for name, size in (_states(shape, setup) | _passing(shape, setup)).items() if size}
    largest = sorted(parts, key=lambda name: -parts[name])
    return {
        "parameters": shape.parameters,
        "trained_parameters": trained_parameters(shape, setup.lora_rank),
        "gib": parts | {"other": FIXED_GIB},
        "total_gib": sum(parts.values()) + FIXED_GIB,
        "reduce_first": [f"{name}: {ADVICE[name]}" for name in largest[:3]],
        "assumes": "a dense Llama-type model, bfloat16 with float32 Adam, attention scores not stored; not checked against a measured run",
    }


def _states(shape: ModelShape, setup: Setup) -> dict[str, float]:
    """Bytes that stay: weights, gradients, the optimizer's state, and the other models."""
    trained = trained_parameters(shape, setup.lora_rank)
    shards = [setup.gpus if setup.stage >= stage else 1 for stage in (1, 2, 3)]
    weights = HALF * shape.parameters / shards[2]
    extra = HALF * trained / shards[2] if setup.lora_rank else 0.0
    training = (ADAM / shards[0] + HALF / shards[1]) * trained
    return {
        "weights": weights + extra,
        "gradients": HALF * trained / shards[1],
        "optimizer": ADAM * trained / shards[0],
        "reference": weights if setup.reference and not setup.lora_rank else 0.0,
        "critic": weights + extra + training if setup.critic else 0.0,
        "reward_model": weights if setup.reward_model else 0.0,
    }


def _passing(shape: ModelShape, setup: Setup) -> dict[str, float]:
    """Bytes that come and go: activations, logits (and their gradient, in float32), keys and values."""
    tokens = setup.micro_batch * setup.tokens
    layer = ACTIVATION_BYTES * tokens * shape.width
    kept = HALF * tokens * shape.width * shape.layers + layer if setup.recompute else layer * shape.layers
    return {
        "activations": float(kept),
        "logits": float((HALF + 2 * FULL) * tokens * shape.vocabulary),
        "kv_cache": float(2 * HALF * shape.layers * shape.kv_heads * shape.head_width * setup.sampled_at_once * setup.tokens),
    }
