"""Healthy runs of every shape are not called broken."""

from benchmarks.false_alarms import SHAPES, healthy_runs, tally


def test_healthy_runs_are_rarely_called_broken() -> None:
    """At most one of seventy generated healthy runs, five of each shape, is called broken."""
    seen = tally(5 * len(SHAPES))
    wrong = {shape: dict(said) for shape, said in seen.items() if set(said) - {""}}
    assert sum(n for said in wrong.values() for answer, n in said.items() if answer) <= 1, wrong


def test_the_runs_are_those_asked_for() -> None:
    """Every shape comes in turn, and the same seed gives the same curves."""
    first, again = list(healthy_runs(len(SHAPES))), list(healthy_runs(len(SHAPES)))
    assert [shape.__name__ for shape in SHAPES] == [name for name, _ in first]
    assert all((a.curves["reward/mean"].value == b.curves["reward/mean"].value).all() for (_, a), (_, b) in zip(first, again, strict=True))
