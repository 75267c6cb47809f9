"""Gradient accumulation against groups, devices and sampling steps.

Relates: per-device batch, devices, accumulation, group size; for diffusion also the sampling steps.
Why: the samples of one update must hold whole groups. In diffusion training every sample has a loss for each sampling step: accumulation
    that counts those steps instead of samples makes every update one of a single sample.
Confirmed by: an error about divisibility at the start (TRL); rewards that fluctuate and never rise with a gradient of usual size.
Source: TRL documentation, GRPOConfig; DanceGRPO issues 45 and 55.
"""

from rl_advisor.finding import Answer, absent, not_logged, present, unclear
from rl_advisor.settings.given import Settings
from rl_advisor.vocabulary import Link

LINK = Link.TRAINING_SIGNAL


def check(s: Settings) -> Answer:
    """A fault where an update holds no whole group, or accumulation counts sampling steps; a note for a single prompt an update."""
    accumulation, steps, group = s.number("accumulation"), s.number("sampling_steps"), s.number("group_size")
    keys = s.keys("accumulation", "per_device", "processes", "group_size", "sampling_steps", "generation_steps")
    if accumulation and steps and group:
        if accumulation < group * steps and accumulation % steps == 0:
            text = f"Gradient accumulation spans {accumulation:g} losses, and each sample has {steps:g} of them (one a sampling step)"
            held = (
                f"{text}: an update holds {accumulation / steps:g} of the {group:g} samples of a group, so its advantages do not balance."
            )
            return present(
                held, about=keys, do=f"Accumulate over whole groups: {group * steps:g} losses, or count samples instead of steps."
            )
        return absent("Accumulation holds whole groups.", about=keys)
    per_device, devices = s.number("per_device"), s.number("processes")
    if not (accumulation and per_device and group and devices):
        return not_logged("")
    batch = per_device * devices * (s.number("generation_steps") or accumulation)
    if batch % group:
        parts = f"{per_device:g} a device x {devices:g} devices x {batch / per_device / devices:g} steps"
        text = f"{parts} = {batch:g} answers, which is no multiple of the group size {group:g}."
        return present(text, about=keys, do="Make the product a multiple of the group size.")
    prompts = batch / group
    if prompts <= 1:
        return unclear(
            "Each update sees the answers to a single prompt: its direction is mostly noise.",
            about=keys,
            do="Raise `gradient_accumulation_steps` eightfold.",
        )
    return absent(f"Each update sees {prompts:g} prompts with {group:g} answers each.", about=keys)
