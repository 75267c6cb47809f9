"""Object stores and web servers: the same run read from a server of each kind as from disk, within bounds."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from rl_advisor import tools
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import UnreadableRun, read_run
from rl_advisor.reading.remote import copies
from rl_advisor.reading.remote.bounds import Bounds


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A moto server; its address."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch, example: Path) -> str:
    """The example run in a bucket."""
    import s3fs

    for name, value in {"AWS_ENDPOINT_URL": s3, "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "a-secret-of-mine"}.items():
        monkeypatch.setenv(name, value)
    store = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    if not store.exists("runs"):
        store.mkdir("runs")
        store.put(str(example) + "/", "runs/a/", recursive=True)
        store.pipe("runs/a/checkpoint-20/model.safetensors", b"weights")
        store.pipe("runs/a/checkpoint-20/trainer_state.json", b"{}")
    return "s3://runs/a"


def test_s3_run_reads_as_on_disk(bucket: str, example: Path) -> None:
    """Every curve and response of the run in the bucket is that of the folder, and its checkpoints are known."""
    got, want = tools.read(bucket), read_run(example)
    assert got.name == "a"
    assert {n: c.value.tolist() for n, c in got.curves.items()} == {n: c.value.tolist() for n, c in want.curves.items()}
    assert len(got.rollouts) == len(want.rollouts)
    assert {c.step for c in got.checkpoints} == {c.step for c in want.checkpoints} | {20}
    assert tools.assess_run(bucket)["verdict"] == tools.assess_run(example)["verdict"]


def test_s3_weights_stay_in_the_store(bucket: str, tmp_path: Path) -> None:
    """What no format reads is not copied."""
    copies.fetch(bucket, tmp_path / "copy")
    names = {p.name for p in (tmp_path / "copy").rglob("*") if p.is_file()}
    assert "trainer_state.json" in names
    assert "model.safetensors" not in names


def test_a_listing_is_asked_once_and_brings_the_same(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was listed of all runs is not asked again for each, and one client brings them all."""
    from rl_advisor.reading.remote.stores import paths
    from rl_advisor.tools.triage.looking import look

    copies.fetch(bucket, tmp_path / "asked")
    store = paths._opened(bucket)[0]
    assert paths._opened(f"{bucket}/other")[0] is store
    (place,) = look(["s3://runs"])
    for question in ("ls", "info"):
        monkeypatch.setattr(type(store), question, lambda *_, **__: pytest.fail("the store was asked again"))
    known = copies.fetch(bucket, tmp_path / "known", Bounds(listed=place.files))
    brought = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in (tmp_path / "asked", tmp_path / "known")]
    assert brought[0] == brought[1]
    assert known.checkpoints
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
    assert paths._opened(bucket)[0] is not store


def test_s3_missing_run_is_the_callers_mistake(bucket: str) -> None:
    """A bucket or a run that is not there is said plainly."""
    with pytest.raises(FileNotFoundError, match="no run at s3://runs/other"):
        tools.read(bucket.replace("/a", "/other"))


def test_refused_key_is_said_and_not_shown(serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that refuses is told apart from one that is empty, and the key is in no message."""

    class Refuses(BaseHTTPRequestHandler):
        def _no(self) -> None:
            body = b"<Error><Code>AccessDenied</Code><Message>no a-secret-of-mine</Message></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = _no  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    for name, value in {"AWS_ENDPOINT_URL": serve(Refuses), "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "a-secret-of-mine"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UnreadableRun, match="refused the credentials") as said:
        tools.read("s3://runs/a")
    assert "a-secret-of-mine" not in str(said.value)


def test_web_folder_reads_as_on_disk(web, example: Path) -> None:
    """A listed folder is walked; user, password and query of an address are not shown."""
    run = tools.read(f"{web(example.parent)}/grpo-run/")
    assert run.name == "grpo-run"
    assert run.curves.keys() == read_run(example).curves.keys()


def test_web_file_reads_alone(web, example: Path) -> None:
    """One file is a run, too, and a missing one is the caller's mistake."""
    base = web(example)
    assert tools.read(f"{base}/trainer_state.json").formats == ("columns",)
    with pytest.raises(FileNotFoundError, match="no run at"):
        tools.read(f"{base}/none.json")


def test_web_links_do_not_lead_out(web, tmp_path: Path) -> None:
    """A page that links elsewhere brings nothing from there."""
    (tmp_path / "run").mkdir()
    (tmp_path / "secret.jsonl").write_text('{"step": 1, "loss": 2.0}\n')
    (tmp_path / "run" / "m.jsonl").write_text('{"step": 1, "reward": 2.0}\n')
    links = "../secret.jsonl", "/secret.jsonl", "%2e%2e/secret.jsonl", "..%2fsecret.jsonl", "m.jsonl", "http://127.0.0.1:1/x.jsonl"
    (tmp_path / "run" / "index.html").write_text("".join(f'<a href="{link}">x</a>' for link in links))
    folder = copies.local_copy(f"{web(tmp_path)}/run/")
    assert [p.name for p in folder.rglob("*.jsonl")] == ["m.jsonl"]


def test_nobody_there_is_said(tmp_path: Path) -> None:
    """A server that does not answer ends in a message, and nothing is left behind."""
    with pytest.raises(UnreadableRun, match="could not be read"):
        copies.fetch("http://user:pass-word@127.0.0.1:9/run.jsonl?token=abc", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_bounds_hold_and_are_said(web, tmp_path: Path) -> None:
    """What does not fit stays in the store; the copy says so to every later reader."""
    source = tmp_path / "run"
    source.mkdir()
    (source / "metrics.jsonl").write_text("".join(json.dumps({"step": i, "reward": i / 10}) + "\n" for i in range(20)))
    (source / "more.jsonl").write_text("x" * 50_000)
    bounds = copies.fetch(f"{web(tmp_path)}/run/", tmp_path / "copy", Bounds(size=10_000))
    assert bounds.left_out["size"] == 1
    assert any("did not fit" in gap.why for gap in read_run(tmp_path / "copy").gaps)


def test_slow_store_is_given_up(serve, tmp_path: Path) -> None:
    """A server that says nothing costs no more than the time allowed."""
    import threading

    release = threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            release.wait(20)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    try:
        with pytest.raises(UnreadableRun, match=r"did not answer within 0\.5 s"):
            copies.fetch(f"{serve(Silent)}/run.jsonl", tmp_path / "copy", Bounds(seconds=0.5))
    finally:
        release.set()


def test_unknown_address_names_the_choices() -> None:
    """An address of no store is the caller's mistake."""
    with pytest.raises(UsageError, match="s3://BUCKET/RUN"):
        tools.read("ftp://host/run")


def test_missing_client_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the message has the line that installs it."""
    import sys

    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(UsageError, match=r'uv pip install "\.\[s3\]"'):
        tools.read("s3://runs/a")


def test_an_address_is_fetched_once(web, example: Path) -> None:
    """A copy answers for the store for a few minutes."""
    address = f"{web(example.parent)}/grpo-run/"
    folder = copies.local_copy(address)
    assert copies.local_copy(address) == folder


def test_a_bucket_of_runs_is_triaged_as_on_disk(bucket: str, example: Path, tmp_path: Path) -> None:
    """Its runs are told from the listing, judged from bounded copies, and known again by what the store says of their content."""
    import shutil

    from rl_advisor.tools.triage import How, Store, triage

    shutil.copytree(example, tmp_path / "runs" / "a")
    (want,) = triage([str(tmp_path / "runs")], How(), Store(None))
    with Store(None) as store:
        (got,) = triage(["s3://runs"], How(), store)
        assert (got["run"], got["where"], got["error"]) == ("a", "s3://runs/a", None)
        assert (want["verdict"], want["p"], want["cause"]) == (got["verdict"], got["p"], got["cause"])
        assert len(triage(["s3://runs"], How(engine="none"), store)) == 1
    del bucket
