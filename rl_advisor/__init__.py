"""rl-advisor: the practitioner at the shoulder of everyone who trains with reinforcement learning."""

__version__ = "0.1.0"
