"""The terminal: one command per verb, and how its answers read there."""

from rl_advisor.cli.commands import main

__all__ = ["main"]
