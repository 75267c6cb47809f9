"""Fetching from true stores on this machine, against what was put into them. Run: make remote, or python benchmarks/remote.py [--record].

Starts an MLflow server (from .venv-remote, it is large) and an emulator of Google's storage; a store that is not installed is said and
counts as a failure. ``--record`` keeps what the true servers answered as the files that the tests replay.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import URLError

import numpy as np
from rl_advisor import tools
from rl_advisor.reading import read_run
from rl_advisor.tools.advisors.builtin import assess
from rl_advisor.tools.report_file import note_to

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests" / "remote" / "recorded"
TOOLS = ROOT / ".venv-remote" / "bin"


@contextmanager
def server(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve with that handler on this machine; gives the address."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{http.server_port}"
    http.shutdown()


@contextmanager
def program(command: list[str], probe: str, folder: str) -> Iterator[None]:
    """Run a program until it answers at ``probe``, and end it afterwards."""
    with Path(folder, "program.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, start_new_session=True)
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(probe, timeout=1).close()  # noqa: S310 - an address of this machine
                    break
                except (URLError, OSError):
                    time.sleep(0.2)
            yield
        finally:
            os.killpg(process.pid, 15)
            process.wait()


def recorder(target: str, kept: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    """A server between client and true server, which keeps what was answered."""

    class Between(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Pass it on."""
            with urllib.request.urlopen(f"http://{target}{self.path}", timeout=60) as answer:
                body = answer.read()
            kept[self.path] = body.decode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Between


def mlflow(kept: dict[str, str]) -> str:
    """A run logged to a true MLflow server comes back point by point."""
    import mlflow as client

    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        store = f"sqlite:///{folder}/store.db"
        command = [str(TOOLS / "mlflow"), "server", "--port", str(port), "--workers", "1", "--backend-store-uri", store]
        with program(command, f"http://127.0.0.1:{port}/health", folder):
            tracking = client.MlflowClient(tracking_uri=f"http://127.0.0.1:{port}")
            run = tracking.create_run("0", run_name="grpo").info.run_id
            want = {"reward": [0.1 * i for i in range(30)], "kl": [0.01 * i for i in range(30)], "system/gpu_0_power_usage_watts": [300.0]}
            for name, values in want.items():
                for step, value in enumerate(values):
                    tracking.log_metric(run, name, value, timestamp=1_795_218_561_000 + 1000 * step, step=step)
            tracking.log_param(run, "learning_rate", 1e-5)
            with server(recorder(f"127.0.0.1:{port}", kept)) as between:
                got = tools.read(f"mlflow+http://{between}/{run}")
            for name in ("reward", "kl"):
                curve = next(c for c in got.curves.values() if c.raw == name)
                assert np.allclose(curve.value, want[name]), name
            told = note_to("mlflow", got, assess(got), f"mlflow+http://127.0.0.1:{port}/{run}")
            held = tracking.get_run(run).data
            assert held.tags["rl-advisor.verdict"] and held.metrics["reward"] == want["reward"][-1], told
            return f"{sum(map(len, want.values()))} points of {len(want)} metrics, and the judgement back"


def gcs(_: dict[str, str]) -> str:
    """A folder put into a bucket of the emulator reads as on disk."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [str(TOOLS / "gcp-storage-emulator"), "start", f"--port={port}", "--in-memory", "--default-bucket=runs"]
        with program(command, f"http://127.0.0.1:{port}/", folder):
            os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"  # asks over gRPC, which the emulator does not speak
            os.environ["STORAGE_EMULATOR_HOST"] = f"http://127.0.0.1:{port}"
            import gcsfs

            store = gcsfs.GCSFileSystem(token="anon", skip_instance_cache=True)  # noqa: S106 - no token is needed
            store.put(f"{ROOT}/examples/grpo-run/", "runs/a/", recursive=True)
            got, want = tools.read("gs://runs/a"), read_run(ROOT / "examples" / "grpo-run")
            assert {n: c.value.tolist() for n, c in got.curves.items()} == {n: c.value.tolist() for n, c in want.curves.items()}
            return f"{len(got.curves)} curves, {len(got.rollouts)} responses"


def free_port() -> int:
    """A port that nobody listens at."""
    with server(BaseHTTPRequestHandler) as address:
        return int(address.rpartition(":")[2])


def main(arguments: list[str]) -> int:
    """Print what each store gave; 1 when one failed."""
    failed = 0
    for store in (mlflow, gcs):
        kept: dict[str, str] = {}
        try:
            said = store(kept)
        except (ImportError, OSError, AssertionError) as missing:
            failed += 1
            said = f"FAILED: {missing!r}"[:300]
        print(f"{store.__name__:12s} {said}", flush=True)
        if "--record" in arguments and kept and not said.startswith("FAILED"):
            RECORDED.mkdir(exist_ok=True)
            (RECORDED / f"{store.__name__}.json").write_text(json.dumps(kept, indent=1) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
