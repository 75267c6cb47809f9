"""Every command on every file of the attack: a message and an exit code, never a trace; steps that are none are refused everywhere."""

import os
import struct
import zipfile

import anyio
import click
import pytest
from click.testing import CliRunner
from rl_advisor.cli import waiting as own_limits
from rl_advisor.cli.commands import main
from rl_advisor.reading.remote import copies

from doors import DATA, plain_run, with_client
from test_bombs import DICT, EPISODES, RSL, TABLE, VERL, packed, yaml_maps, yaml_merges

EXITS = {0, 1, 2, 3}


def log(text):
    return lambda folder: (folder / "train.log").write_text(text)


def short_header(folder):
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,"
    with zipfile.ZipFile(folder / "evaluations.npz", "w") as archive:
        for name in ("timesteps", "results"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)


ATTACKS = {
    "verl": log(f"{VERL}step:6 - a:{'1' * 20_000}x\n"),
    "rsl_rl": log(f"{RSL}Mean x: {'1' * 20_000}x\n"),
    "dict": log(f"{DICT}{{'loss': {'1' * 20_000}x, 'reward': 1}}\n"),
    "lines": log(f"{EPISODES}{('a' + '1' * 1990 + 'x' + chr(10)) * 20}"),
    "table": log(f"{TABLE}|a{' ' * 50_000}b\n"),
    "yaml maps": yaml_maps,
    "yaml merges": yaml_merges,
    "npz header": short_header,
    "half a parquet": lambda f: (f / "metrics.parquet").write_bytes(b"PAR1" + os.urandom(200) + b"PAR1"),
    "half a database": lambda f: (f / "mlflow.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000),
    "deep JSON": lambda f: (f / "trainer_state.json").write_text("[" * 20_000),
    "many digits": lambda f: (f / "metrics.jsonl").write_text(f'{{"step": 1, "reward": {"1" * 5_000}}}\n' * 9),
    "packed blank lines": packed("metrics.jsonl.gz", '{"step": 1, "reward": 1}\n' * 5, 8 << 20),
    "half characters": lambda f: (f / "train.log").write_bytes(b"reward: \xff\xfe\xed\xa0\x80 \x1b]0;x\x07 1\n" * 50),
    "a pipe": lambda f: os.mkfifo(f / "train.log"),
    "nothing": lambda _: None,
}
COMMANDS = {
    "load": [],
    "curves": [],
    "samples": [],
    "gpu": [],
    "assess": [],
    "check": [],
    "report": ["--out", "page.html"],
    "compare": ["SAME"],
    "watch": ["--once"],
}


COSTLY = {"verl", "yaml maps", "yaml merges", "deep JSON", "packed blank lines"}
"""Attacks on the reading alone, which is that of ``load`` for every command but the one about settings."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_command_ends_in_a_message_and_a_code(tmp_path, monkeypatch, attack):
    """In the tables of the review each shape once took minutes, gigabytes or ended in a trace."""
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.chdir(tmp_path)
    ATTACKS[attack](run)
    for command, more in COMMANDS.items():
        if attack in COSTLY and command not in {"load", "check"}:
            continue
        if command not in main.commands or (command == "watch" and not any("--once" in p.opts for p in main.commands["watch"].params)):
            continue
        done = CliRunner().invoke(main, [command, str(run), *(str(run) if m == "SAME" else m for m in more)])
        assert done.exit_code in EXITS, (command, done.exception)
        assert done.exception is None or isinstance(done.exception, SystemExit), (command, done.exception)
        assert done.output.strip(), command
        assert "Traceback" not in done.output


UNTIL = [name for name, command in main.commands.items() if any("--until" in p.opts for p in command.params if isinstance(p, click.Option))]


@pytest.mark.parametrize("step", ["nan", "-5", "inf"])
@pytest.mark.parametrize("command", UNTIL)
def test_no_command_takes_a_step_that_is_none(command, step):
    """``--until nan`` once meant step 0."""
    done = CliRunner().invoke(main, [command, str(DATA / "run-01"), "--until", step, *(["--out", "x.md"] if command == "report" else [])])
    assert done.exit_code == 2
    assert "until" in done.output


def test_no_tool_takes_a_step_that_is_none():
    """Nor does a client of the server get an answer about one."""

    async def talk(client):
        tools = [t for t in (await client.list_tools()).tools if "until" in t.input_schema["properties"]]
        given = {"run": "run-01", "runs": ["run-01", "run-01"], "pattern": "collapse"}
        asked = [(t.name, {k: v for k, v in given.items() if k in t.input_schema["properties"]}) for t in tools]
        steps = (-5, "nan", "Infinity")  # what is no JSON at all a client cannot send
        return [(name, u, await client.call_tool(name, {**known, "until": u})) for name, known in asked for u in steps]

    answers = with_client([DATA], talk)
    assert len(answers) >= 15
    assert [(name, until) for name, until, answer in answers if not answer.is_error] == []


@pytest.mark.parametrize(("bound", "value", "work"), [("CPU_S", 0, "while True: pass"), ("MEMORY", 64 << 20, "x = bytearray(1 << 30)")])
def test_a_command_has_limits_of_its_own(monkeypatch, bound, value, work):
    """Reading that takes more ends in a message and an exit code, and the process has its old limits again."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(own_limits, bound, value)
    monkeypatch.setattr("rl_advisor.tools.ask", lambda *_, **__: exec(work))  # noqa: S102 - our own two lines
    done = CliRunner().invoke(main, ["load", str(DATA / "run-01")])
    assert done.exit_code == 3
    assert "could not be read: it needed more" in done.output
    assert (resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_DATA)) == before


def test_copies_of_killed_processes_are_swept(tmp_path, monkeypatch):
    """What a process that is gone left behind is removed; what one that lives has, and links, stay."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    dead, alive, link = (tmp_path / f"rl-advisor-{n}-x" for n in (2**22 + 7, os.getpid(), 2**22 + 9))
    for room in (dead, alive, tmp_path / "other"):
        room.mkdir()
        (room / "f").write_text("x")
    link.symlink_to(tmp_path / "other")
    copies._swept()
    assert not dead.exists()
    assert (alive / "f").exists()
    assert (tmp_path / "other" / "f").exists()


def test_yaml_that_four_clients_gave_up_blocks_nobody(tmp_path):
    """Four calls on maps of aliases, all cancelled at work: the list of runs and a sound run are answered."""
    plain_run(tmp_path)
    for i in range(4):
        (tmp_path / f"bomb-{i}").mkdir()
        (yaml_maps if i % 2 else yaml_merges)(tmp_path / f"bomb-{i}")

    async def talk(client):
        async with anyio.create_task_group() as group:
            for i in range(4):
                group.start_soon(client.call_tool, "load_run", {"run": f"bomb-{i}"})
            await anyio.sleep(0.05)
            group.cancel_scope.cancel()
        return await client.call_tool("list_runs", {}), await client.call_tool("load_run", {"run": "run-01"})

    listed, loaded = with_client([tmp_path], talk)
    assert not listed.is_error and not loaded.is_error
    assert loaded.structured_content["run"]
