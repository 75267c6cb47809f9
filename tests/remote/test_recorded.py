"""MLflow: our side of the wire is real, the answers are those of a true server (kept by benchmarks/remote.py)."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from click.testing import CliRunner
from rl_advisor import tools
from rl_advisor.cli.commands import main
from rl_advisor.output.errors import UsageError

RECORDED = Path(__file__).parent / "recorded"


def _replay(store: str) -> tuple[type[BaseHTTPRequestHandler], list[str]]:
    """A server that gives what a true one answered to the same question, and 404 to others; the addresses it knows."""
    kept: dict[str, str] = json.loads((RECORDED / f"{store}.json").read_text())
    known = {(urlsplit(k).path, json.dumps(parse_qs(urlsplit(k).query), sort_keys=True)): v for k, v in kept.items()}

    class Replay(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            split = urlsplit(self.path)
            body = known.get((split.path, json.dumps(parse_qs(split.query), sort_keys=True)))
            missing = {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Run not found"}
            data = (body or json.dumps(missing)).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    return Replay, list(kept)


@pytest.fixture
def mlflow(serve: Callable[..., str]) -> tuple[str, str]:
    """Address of the server and the recorded run's id."""
    handler, asked = _replay("mlflow")
    run = next(parse_qs(urlsplit(a).query)["run_id"][0] for a in asked if "runs/get?" in a)
    return serve(handler).removeprefix("http://"), run


def test_mlflow_run(mlflow: tuple[str, str]) -> None:
    """Every point, the parameters and the GPU statistics of a logged run, by its short address and by its page's."""
    server, run = mlflow
    got = tools.read(f"mlflow+http://{server}/{run}")
    curves = {c.raw: c for c in got.curves.values()}
    assert np.allclose(curves["reward"].value, [0.1 * i for i in range(30)])
    assert curves["kl"].step.tolist() == list(range(30))
    assert got.config["learning_rate"] == "1e-05"
    assert got.telemetry["power_w"].tolist() == [300.0]
    assert tools.read(f"http://{server}/#/experiments/0/runs/{run}/model-metrics").curves.keys() == got.curves.keys()


def test_mlflow_missing_run(mlflow: tuple[str, str]) -> None:
    """A run that the server does not know, and an address without one, are the caller's mistakes."""
    with pytest.raises(FileNotFoundError, match="no run at mlflow"):
        tools.read(f"mlflow+http://{mlflow[0]}/none")
    with pytest.raises(UsageError, match="RUN_ID"):
        tools.read(f"mlflow+http://{mlflow[0]}/")


def test_a_copy_is_kept(mlflow: tuple[str, str], tmp_path: Path) -> None:
    """``fetch`` brings a run into a folder of its own, and nothing is written over it."""
    asked = ["fetch", f"mlflow+http://{mlflow[0]}/{mlflow[1]}", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    assert len(tools.read(tmp_path / mlflow[1]).curves["reward/mean"].value) == 30
    again = CliRunner().invoke(main, asked)
    assert (again.exit_code, "exists" in again.output) == (2, True)
