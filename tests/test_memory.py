"""Memory estimates against numbers that were published or can be counted."""

from dataclasses import replace

import pytest
from rl_advisor.gpu.memory import Setup, estimate, shape_of, trained_parameters

LLAMA_8B = {
    "hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 128256,
    "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False,
}  # fmt: skip
QWEN_05B = {
    "hidden_size": 896, "num_hidden_layers": 24, "intermediate_size": 4864, "vocab_size": 151936,
    "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": True,
}  # fmt: skip


@pytest.mark.parametrize(("config", "parameters"), [(LLAMA_8B, 8.030e9), (QWEN_05B, 0.494e9)])
def test_parameters(config, parameters):
    """The number of parameters is the published one."""
    assert shape_of(config).parameters == pytest.approx(parameters, rel=0.002)


def test_sixteen_bytes_a_parameter():
    """Weights, gradients and Adam's state take 16 bytes a parameter; stage 3 divides all of them by the GPUs."""
    shape = shape_of(LLAMA_8B)
    for setup, share in ((Setup(reference=False), 1), (Setup(gpus=8, stage=3, reference=False), 8)):
        parts = estimate(shape, setup)["gib"]
        states = parts["weights"] + parts["gradients"] + parts["optimizer"]
        assert states == pytest.approx(16 * shape.parameters / share / 2**30)


def test_stages_shard_one_part_after_the_other():
    """Each stage takes less than the one before."""
    totals = [estimate(shape_of(LLAMA_8B), Setup(gpus=8, stage=stage))["total_gib"] for stage in range(4)]
    assert totals == sorted(totals, reverse=True)
    assert len(set(totals)) == 4


def test_keys_and_values():
    """An 8B model keeps 128 KiB a token."""
    parts = estimate(shape_of(LLAMA_8B), Setup(sampled_at_once=1, tokens=8192))["gib"]
    assert parts["kv_cache"] == pytest.approx(1.0)


def test_adapters():
    """Rank 16 on all projections of an 8B model trains 42 million parameters, needs no reference, and its optimizer all but vanishes."""
    shape = shape_of(LLAMA_8B)
    assert trained_parameters(shape, 16) == 41_943_040
    parts = estimate(shape, Setup(lora_rank=16))["gib"]
    assert "reference" not in parts
    assert parts["optimizer"] < 0.5


def test_what_to_reduce_first_is_the_largest():
    """Advice begins with the largest part."""
    answer = estimate(shape_of(QWEN_05B), Setup(micro_batch=16, tokens=4096))
    assert answer["reduce_first"][0].startswith("logits")
    full = estimate(shape_of(LLAMA_8B), Setup())
    assert full["reduce_first"][0].startswith("optimizer")


def test_recomputing_saves():
    """Activations shrink when they are recomputed; nothing else changes."""
    shape = shape_of(LLAMA_8B)
    kept, again = (estimate(shape, replace(Setup(), recompute=r))["gib"] for r in (False, True))
    assert again["activations"] < kept["activations"] / 5
    assert {k: v for k, v in kept.items() if k != "activations"} == {k: v for k, v in again.items() if k != "activations"}


@pytest.mark.parametrize(
    "broken", [{}, {**LLAMA_8B, "hidden_size": "4096"}, {**LLAMA_8B, "vocab_size": -1}, {**LLAMA_8B, "num_hidden_layers": True}]
)
def test_a_configuration_that_lacks_numbers(broken):
    """What is missing is named."""
    with pytest.raises(ValueError, match="no positive whole number"):
        shape_of(broken)
