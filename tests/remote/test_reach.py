"""The server opens a connection only where the person who started it said so."""

import socket
from pathlib import Path

import anyio
import pytest
from rl_advisor.output.errors import UsageError
from rl_advisor.server.confinement import Outside, below, roots_of, stores_of
from rl_advisor.server.dispatch import Dispatcher

ADDRESSES = ("https://127.0.0.1/run", "s3://bucket/run", "wandb://a/b/c", "mlflow+http://127.0.0.1/x")


@pytest.mark.parametrize("address", ADDRESSES)
def test_s1_no_address_without_the_switch(address: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``--remote`` every address gets the one refusal, and no socket is opened."""

    def opened(*_: object) -> None:
        raise AssertionError("a socket was opened")

    async def nothing(_: object) -> list[Path]:
        return []

    monkeypatch.setattr(socket.socket, "connect", opened)
    monkeypatch.setattr(Dispatcher, "found", nothing)
    with pytest.raises(Outside):
        anyio.run(Dispatcher(roots_of([tmp_path])).run, address)


def test_only_below_what_was_named() -> None:
    """A prefix holds at a slash; nothing climbs out of it, encoded or not."""
    stores = stores_of(["s3://bucket/runs/", "https://host"])
    assert below(stores, "s3://bucket/runs/a")
    assert below(stores, "https://host/x")
    for outside in (
        "s3://bucket/runs2/a", "s3://bucket/runs/../keys", "s3://bucket/runs/%2e%2e/keys", "https://host.evil/x", "https://host@evil/x",
        "https://evil/https://host/x", "http://host/x", "https://host\\evil/x",
    ):  # fmt: skip
        assert not below(stores, outside), outside
    with pytest.raises(UsageError, match="--remote takes an address"):
        stores_of(["runs/"])
