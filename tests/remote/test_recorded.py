"""MLflow and Prometheus: our side of the wire is real, the answers are those of true servers (kept by benchmarks/remote.py)."""

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
from rl_advisor.reading import UnreadableRun
from rl_advisor.remote.stores import prometheus

RECORDED = Path(__file__).parent / "recorded"


def _replay(store: str, seen: list[str] | None = None) -> tuple[type[BaseHTTPRequestHandler], list[str]]:
    """A server that gives what a true one answered to the same question, and 404 to others; the addresses it knows."""
    kept: dict[str, str] = json.loads((RECORDED / f"{store}.json").read_text())
    known = {(urlsplit(k).path, json.dumps(parse_qs(urlsplit(k).query), sort_keys=True)): v for k, v in kept.items()}

    class Replay(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append(self.headers.get("Authorization", ""))
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


@pytest.fixture
def metrics(serve: Callable[..., str]) -> tuple[str, list[str]]:
    """Address with the recorded range, and the authorisations that the server is shown."""
    seen: list[str] = []
    handler, asked = _replay("prometheus", seen)
    query = {k: v[0] for k, v in parse_qs(urlsplit(asked[0]).query).items()}
    server = serve(handler).removeprefix("http://")
    return f"prometheus+http://{server}/?start={query['start']}&end={query['end']}&step=1s", seen


def test_prometheus_range(metrics: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters of both GPUs over the range, in our units; the token of the environment goes along."""
    monkeypatch.setenv("PROMETHEUS_TOKEN", "token-of-mine")
    table = tools.read(metrics[0]).telemetry
    assert table["gpu"].nunique() == 2
    assert len(table) == 18
    assert sorted(set(table["utilization"])) == pytest.approx([0.5, 0.51])
    assert set(table["memory_gib"]) == {1.0}
    assert metrics[1] == ["Bearer token-of-mine"]


def test_counters_beside_a_run(metrics: tuple[str, list[str]], tmp_path: Path, example: Path) -> None:
    """``fetch`` brings counters into a run's folder; the run then has both, and nothing is written twice."""
    import shutil

    run = tmp_path / "run"
    shutil.copytree(example, run)
    done = CliRunner().invoke(main, ["fetch", metrics[0], "--out", str(run)])
    assert done.exit_code == 0, done.output
    whole = tools.read(run)
    assert len(whole.telemetry) == 18
    assert whole.curves.keys() == tools.read(example).curves.keys()
    again = CliRunner().invoke(main, ["fetch", metrics[0], "--out", str(run)])
    assert (again.exit_code, "exists" in again.output) == (2, True)


def test_prometheus_says_what_it_takes() -> None:
    """Unknown parameters, odd times and steps are the caller's mistakes; long ranges are asked for in parts."""
    for wrong in ("since=1", "start=yesterday", "step=often", "start=9&end=3"):
        with pytest.raises(UsageError):
            tools.read(f"prometheus+http://127.0.0.1:9/?{wrong}")
    assert prometheus._seconds("2m") == 120.0


def test_redirect_takes_no_key_along(serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that sends us elsewhere is told off: the other one never sees the token."""
    monkeypatch.setenv("PROMETHEUS_TOKEN", "token-of-mine")
    seen: list[str] = []
    other = serve(_replay("prometheus", seen)[0])

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", other)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with pytest.raises(UnreadableRun, match="302") as said:
        tools.read(serve(Elsewhere).replace("http", "prometheus+http") + "/?start=1&end=2")
    assert seen == []
    assert "token-of-mine" not in str(said.value)
