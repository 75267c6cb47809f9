"""The face for programs stays as it is: its names, their arguments, and what the notebook of the examples shows with them."""

import ast
import contextlib
import inspect
import io
import json
from pathlib import Path

import pytest
import rl_advisor as rl

ROOT = Path(__file__).parents[1]
RUN = ROOT / "examples" / "grpo-run"
FACE = {
    "read": "(path, *, until=None, mapping=None)",
    "diagnose": "(run, *, until=None)",
    "assess": "(run, *, until=None, advisor='builtin', mapping=None, goal=None, **options)",
    "compare": "(*runs, until=None)",
}


@pytest.mark.parametrize("name", FACE)
def test_the_arguments_stay(name: str) -> None:
    """Whoever calls them by keyword goes on doing so."""
    signature = inspect.signature(getattr(rl, name))
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == FACE[name]


def test_the_names_stay_and_others_are_refused() -> None:
    """What is listed is there; what is not says so as Python does."""
    assert set(dir(rl)) == {"Assessment", "Curve", "Finding", "Judgement", "Run", "__version__", *FACE}
    assert all(getattr(rl, name) for name in rl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rl.nothing


def test_a_path_and_its_run_are_judged_alike_and_until_cuts() -> None:
    """By path or by run, the same judgement; nothing later than ``until`` is in any of the three."""
    run = rl.read(RUN)
    assert rl.assess(run, until=150).model_dump() == rl.assess(RUN, until=150).model_dump()
    assert rl.read(RUN, until=150).frame().index.max() <= 150
    assert rl.assess(RUN, until=150).step == 150
    assert {f.pattern for f in rl.diagnose(RUN)} == {f.pattern for f in rl.diagnose(run)}


def test_the_table_has_the_runs_own_names_or_ours() -> None:
    """One row a step, and every logged value in its place."""
    run = rl.read(RUN)
    own, ours = run.frame(), run.frame(ours=True)
    assert {"reward", "kl"} <= set(own.columns)
    assert "reward/mean" in ours.columns
    curve = run.curves["reward/mean"]
    assert own.loc[curve.step[-1], curve.raw] == curve.value[-1]


def test_the_page_in_a_notebook_lies_in_a_frame_of_its_own() -> None:
    """No word of the run reaches the notebook around it."""
    shown = rl.assess(RUN)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert shown.count("<") == 2


def test_the_notebook_of_the_examples_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell, in the folder in which it lies."""
    monkeypatch.chdir(ROOT / "examples")
    cells = json.loads((ROOT / "examples" / "from-python.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile(cell["source"], cell["id"], "exec"), names)  # noqa: S102 - our own notebook
    assert printed.getvalue().count("\n") == 5
    assert names["then"].step == 150


def test_the_cell_of_the_page_shows_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell of docs/python.md runs as it stands; what its last line gives draws itself, as both kinds of notebook ask it to."""
    monkeypatch.chdir(ROOT)
    cell = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").split("```python\n")[2].partition("```")[0]
    *before, last = ast.parse(cell).body
    held: dict[str, object] = {}
    exec(compile(ast.Module(before, []), "cell", "exec"), held)  # noqa: S102 - the page is ours
    shown = eval(compile(ast.Expression(last.value), "cell", "eval"), held)  # type: ignore[attr-defined]  # noqa: S307 - as above
    assert "<iframe" in shown._repr_html_() and shown.step == 200


def test_what_is_shown_of_an_answer_is_short():
    """In a notebook a run, a curve and a judgement are a line; every name of the face is there."""
    run = rl.read(RUN)
    for one in (run, next(iter(run.curves.values())), rl.assess(run), type(run)()):
        assert len(repr(one)) < 250, repr(one)[:300]
    assert [name for name in rl.__all__ if not hasattr(rl, name)] == []
