"""The judgement written to a W&B run that is there, through W&B's own client, at a server on this machine that keeps what it was sent."""

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from rl_advisor.api import assess
from rl_advisor.reading import read_run
from rl_advisor.tools import report_file
from tests.remote.conftest import KEY

RUN = Path(__file__).parents[2] / "examples" / "grpo-run"
THERE = {
    "projectId": "7", "id": "UnVuOnYx", "name": "run1", "displayName": "grpo", "state": "finished", "sweepName": None, "config": "{}",
    "tags": ["mine", "rl-advisor:improving"], "group": None, "jobType": None, "commit": None, "readOnly": False, "historyLineCount": 1,
    "createdAt": "2026-11-21T00:00:00Z", "heartbeatAt": "2026-11-21T00:00:00Z", "description": "", "notes": "my notes",
    "systemMetrics": "{}", "summaryMetrics": json.dumps({"reward": 0.5}), "user": {"name": "n", "username": "u"},
    "historyKeys": {"lastStep": 0, "sets": [], "keys": {}},
}  # fmt: skip


@pytest.fixture
def kept(serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What the server was sent: variables of changes, and files by name."""
    sent: dict[str, Any] = {"changes": [], "files": []}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

        def do_PUT(self) -> None:
            sent["files"].append(self._body().decode())
            self._answer(b"")

        def do_POST(self) -> None:
            body = self._body()
            if not self.path.endswith("/graphql"):
                self._answer(b"")
                return
            asked = json.loads(body)
            variables = asked.get("variables") or {}
            if "mutation" in asked["query"]:
                sent["changes"].append(variables)
            files = [{"name": n, "uploadUrl": f"http://{self.headers['Host']}/put"} for n in variables.get("files", [])]
            node = {"id": "1", "name": "rl-advisor.md", "url": "", "directUrl": "", "sizeBytes": "1", "mimetype": "", "md5": ""}
            pages = {"endCursor": "c", "hasNextPage": False}
            held = {"edges": [{"node": node | {"updatedAt": "2026-11-21T00:00:00"}, "cursor": "c"}], "pageInfo": pages}
            run = THERE | {"files": held, "fileCount": 1}
            viewer = {"id": "u", "username": "u", "entity": "me", "email": "e", "flags": "{}", "teams": {"edges": []}}
            self._answer(
                json.dumps(
                    {
                        "data": {
                            "viewer": viewer,
                            "project": {"internalId": "7", "run": run},
                            "createRunFiles": {"runID": "UnVuOnYx", "uploadHeaders": [], "files": files},
                            "upsertBucket": {"bucket": run},
                        }
                    }
                ).encode()
            )

        def log_message(self, *_: object) -> None: ...

    monkeypatch.setenv("WANDB_BASE_URL", serve(Handler))
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield sent
    import wandb

    wandb.teardown()


@pytest.mark.parametrize(
    ("target", "place"), [("wandb:me/proj/run1", RUN), ("wandb", "wandb://me/proj/run1")], ids=["named", "read from there"]
)
def test_a_run_that_is_there_keeps_what_it_had(kept: dict[str, Any], target: str, place: Any) -> None:
    """Its summary and tags gain our names and lose none; the page is among its files; notes are not touched."""
    run = read_run(RUN)
    assert report_file.note_to(target, run, assess(run), place) == "wandb: me/proj/run1"
    summaries = [json.loads(c["summaryMetrics"]) for c in kept["changes"] if c.get("summaryMetrics")]
    assert summaries[-1]["rl-advisor/verdict"] == "collapsed"
    assert summaries[-1]["reward"] == 0.5
    assert [c["tags"] for c in kept["changes"] if c.get("tags")][-1] == ["mine", "rl-advisor:collapsed"]
    assert all(c.get("notes") in (None, "my notes") for c in kept["changes"])
    assert "grpo-run: collapsed" in kept["files"][0]
