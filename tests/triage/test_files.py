"""What comes out besides the table: Parquet, a page and reports on disk."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner
from rl_advisor.cli import main
from rl_advisor.tools.triage.page import encoded
from rl_advisor.tools.triage.row import CONTRACT


def test_files_beside_the_table(sweep: Path, tmp_path: Path) -> None:
    """Parquet has the contract's columns, the page links the reports, and what the runs share stands on it."""
    out = tmp_path / "out"
    out.mkdir()
    given = [
        "--store",
        out / "s",
        "--parquet",
        out / "rows.parquet",
        "--page",
        out / "page.html",
        "--reports",
        out / "reports",
        "--jobs",
        "2",
    ]
    done = CliRunner().invoke(main, ["triage", str(sweep), "--json", *map(str, given)])
    assert done.exit_code == 0, done.output
    table = pq.read_table(out / "rows.parquet")
    assert set(CONTRACT) <= set(table.column_names)
    assert [json.loads(line)["run"] for line in done.stdout.splitlines()] == table["run"].to_pylist()
    reports = list((out / "reports").iterdir())
    page = (out / "page.html").read_text()
    assert 6 == len(reports) == page.count("reports/")
    assert all(report.read_text().startswith("<!doctype html>") for report in reports)
    shared = CliRunner().invoke(main, ["triage", str(sweep), "--common", "--json", "--store", str(out / "s")])
    assert json.loads(shared.stdout)["runs"] == 6


def test_a_curve_is_a_letter_a_point() -> None:
    """Lowest 0, highest z; a flat one in the middle."""
    assert (encoded([0.0, 0.49, 1.0]), encoded([3.0, 3.0]), encoded([])) == ("0hz", "hh", "")
