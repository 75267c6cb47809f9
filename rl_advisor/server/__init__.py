"""The door for assistants: the tools, the skill's pages and ready questions over the Model Context Protocol, reading only."""

from rl_advisor.server.build import address, build, serve

__all__ = ["address", "build", "serve"]
