"""What keeps the house in order: every plug keeps its contract, names come from the vocabulary, modules and functions stay small."""

import ast
import inspect
from pathlib import Path

import pytest
from rl_advisor.detectors import patterns
from rl_advisor.discovery import modules
from rl_advisor.finding import VERDICTS, Outcome, Role
from rl_advisor.judgement.diagnosis import diagnose, own, with_role
from rl_advisor.run import Run
from rl_advisor.vocabulary import METRICS, Dialect, Link, metric
from rl_advisor.vocabulary.dialects import dialects

PACKAGE = Path(__file__).parents[1] / "rl_advisor"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEADINGS = {"Title", "Looks for", "Means", "Not to be confused with", "Next test", "Source"}
TABLES = {"rollouts", "telemetry", "events"}


@pytest.mark.parametrize("detector", patterns().values(), ids=lambda d: d.name)
def test_detector_keeps_its_contract(detector) -> None:
    """A detector has a link, known needs, a manual page, and knows the patterns that it brings about."""
    assert detector.link in Link
    assert detector.role in Role
    assert 0 < detector.weight <= 3
    assert all(verdict in VERDICTS and abs(weight) <= 10 for verdict, weight in detector.speaks.items())
    assert set(detector.page) == HEADINGS
    for need in detector.needs:
        for option in need.split("|"):
            assert option in TABLES or option in METRICS or metric(option.rstrip("*")), option
    assert detector.brings <= set(patterns())
    assert detector.name not in detector.brings


@pytest.mark.parametrize("dialect", dialects().values(), ids=lambda d: d.name)
def test_dialect_maps_into_the_vocabulary(dialect: Dialect) -> None:
    """Every name that a dialect gives is ours, and every note is about one of ours."""
    for ours in (*dialect.metrics.values(), *dialect.notes):
        assert metric(ours), ours
    assert set(dialect.affine) <= set(dialect.metrics) | set(dialect.affine)


def test_formats_and_reports_keep_their_contract() -> None:
    """Formats and reports define what their folders ask for, under names that differ."""
    formats = modules("rl_advisor.reading.formats", "FORMAT", "claims", "read")
    assert len({m.FORMAT for m in formats}) == len(formats)
    assert {len(inspect.signature(door).parameters) for m in formats for door in (m.claims, m.read)} == {2}
    reports = modules("rl_advisor.answers.reports", "SUFFIX", "render", "compared")
    assert len({m.SUFFIX for m in reports}) == len(reports)


def test_empty_run_gives_no_answer_but_no_error() -> None:
    """On a run without anything every detector that any training may be asked says that it cannot see, never that all is well."""
    said = {f.pattern: f.outcome for f in diagnose(Run())}
    assert {Outcome.NOT_LOGGED} == set(said.values()) - {Outcome.UNCLEAR}
    of_all = {name for name, d in patterns().items() if (not d.kinds or "any" in d.kinds) and all(own(need, "") for need in d.needs)}
    assert {name for role in Role for name in with_role(role)} & of_all == set(said)


def test_findings_stand_outside_in() -> None:
    """Findings come in the order in which to suspect the links."""
    order = list(Link)
    places = [order.index(f.link) for f in diagnose(Run())]
    assert sorted(places) == places


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_modules_and_functions_stay_small(path: Path) -> None:
    """No module over 300 lines, no function over 45, and each module says what it is for."""
    text = path.read_text()
    tree = ast.parse(text)
    assert text.count("\n") <= 300
    assert ast.get_docstring(tree) or not text.strip()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 45, f"{node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"


def test_nothing_runs_what_it_reads() -> None:
    """No unpickling, no evaluation of text and no unsafe YAML anywhere in the package."""
    banned = {("pickle", "load"), ("pickle", "loads"), ("torch", "load"), ("yaml", "load"), ("marshal", "loads")}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                f = node.func
                assert not (isinstance(f, ast.Name) and f.id in {"eval", "exec", "compile"}), path
                assert not (isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and (f.value.id, f.attr) in banned), path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant) and node.value.value is False, path
