"""TensorBoard event files: from bytes to the points of every tag, by numpy where the layout repeats, going on behind damage."""

from rl_advisor.reading.parsing.event_files.points import Events
from rl_advisor.reading.parsing.event_files.reader import read_events

__all__ = ["Events", "read_events"]
