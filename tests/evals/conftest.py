"""The test of the Inspect task is collected only where the extra ``eval`` is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("inspect_ai") else ["test_inspect_task.py"]
