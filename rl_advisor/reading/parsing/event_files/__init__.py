"""TensorBoard event files: from bytes to the points of every tag, records that are written alike at once, going on behind damage."""

from rl_advisor.reading.parsing.event_files.reader import Events, read_events

__all__ = ["Events", "read_events"]
