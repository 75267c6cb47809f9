"""What a log says besides its numbers: which lines are errors, which speak of NaN, and which only sound like it."""

import pytest
from rl_advisor.reading.parsing.log_lines import EVENT_LIMIT, SURVIVED, Watch

CRASH = [
    "Traceback (most recent call last):",
    '  File "train.py", line 7, in <module>',
    "    assert batch % n == 0, batch",
    "AssertionError: 7",
]


def said(lines: list[str], rows: float | None = None) -> list[tuple[str, str, int]]:
    """Kind, last line and place of the events of these lines."""
    watch = Watch()
    for line in watch.through(lines):
        watch.look(line, 0.0)
    return [(e.kind, e.text.rpartition("\n")[2], e.line) for e in watch.finish(rows)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ValueError: probability tensor contains inf", "error"),
        ("(WorkerDict pid=12) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "out_of_memory"),
        ("Warning: loss is nan at step 12", "non_finite"),
        ("found inf in gradients, skipping update", "non_finite"),
        ("Warning: Metric attention/early/mdi is NaN/Inf: nan", "warning"),
        (" iteration 12/ 100 | lm loss: 0.1 | number of skipped iterations:   0 | number of nan iterations:   0 |", None),
        ("number of skipped iterations: 1 | number of nan iterations: 3 | loss", "non_finite"),
        ("Error: <answer> tag not found.", None),
        ("the banana is nanoscopic", None),
        ("2026-03-01 10:00:00,123 INFO     __main__ - Resuming training from /x/checkpoint-500", "resume"),
        ("=> loaded checkpoint 'runs/ppo.pth' (epoch 30)", "resume"),
        ("I am resuming from step 3 of the proof, where x = 4", None),
        ("worker-0: resuming experience collection (50 times)", None),
        ("Loading checkpoint shards: 100%|####| 2/2 [00:01<00:00]", None),
        ("Saving checkpoint at step 500", None),
        ("INFO: 0 errors, no Exception handlers registered", None),
    ],
)
def test_what_a_line_says(line: str, kind: str | None) -> None:
    """Errors by their class, NaN only of what is computed and only where any is counted."""
    assert [k for k, _, _ in said([line])] == ([kind] if kind else [])


def test_a_traceback_has_its_last_line_and_its_place() -> None:
    """The last line is the exception, and the line of the file is where it ends."""
    assert said(["starting", *CRASH]) == [("error", "AssertionError: 7", 5)]


@pytest.mark.parametrize(("after", "kind"), [(SURVIVED - 1, "error"), (SURVIVED + 1, "warning")])
def test_an_error_that_the_log_outlives_is_a_warning(after: int, kind: str) -> None:
    """Text of samples and errors that a program handles are followed by more; the end of a run by little."""
    assert [k for k, _, _ in said([*CRASH, *["a sampled answer"] * after])] == [kind]


def test_an_error_before_more_rows_is_a_warning() -> None:
    """Where steps went on behind it, it was not the end."""
    assert [k for k, _, _ in said(CRASH, rows=0.0)] == ["error"]
    assert [k for k, _, _ in said(CRASH, rows=5.0)] == ["warning"]


def test_the_newest_of_many_events_is_kept() -> None:
    """A thousand handled errors do not hide the last one."""
    events = said([f"ValueError: number {i}" for i in range(1_000)])
    assert len(events) == EVENT_LIMIT
    assert (events[0][1], events[-1][1]) == ("ValueError: number 0", "ValueError: number 999")
