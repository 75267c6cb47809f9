"""Hostile run folders: what a folder or a client may try, and what must not happen. Numbers in the names are those of the requirements."""

import asyncio
import gzip
import json
import os
import pickle
import re
import resource
import socket
import struct
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from rl_advisor.cli.commands import main
from rl_advisor.output.budget import tokens
from rl_advisor.server import dispatch
from rl_advisor.server.confinement import REFUSED, Outside, called, inside, roots_of
from rl_advisor.tools.workers import in_worker
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from doors import CANARY, ORDER, QUESTIONS, exposed, hostile_run, plain_run, with_client


@pytest.fixture
def house(tmp_path):
    """Two sibling folders, of which only ``runs`` may be read, and every kind of trap inside it."""
    allowed, secret = tmp_path / "runs", tmp_path / "runs2"
    plain_run(allowed)
    plain_run(secret)
    (secret / "key.txt").write_text("sk-secret")
    (allowed / "out").symlink_to(secret / "run-01")
    (allowed / "up").symlink_to("..")
    (allowed / "loop").symlink_to("loop")
    (allowed / "null").symlink_to("/dev/zero")
    (allowed / "pass").symlink_to("/etc/passwd")
    os.mkfifo(allowed / "pipe")
    return allowed


TRICKS = [
    *(
        "..",
        "../runs2/run-01",
        "run-01/../../runs2/run-01",
        "/etc/passwd",
        "/",
        "//etc",
        "~",
        "~/x",
        "$HOME",
        "out",
        "up/runs2",
        "loop",
        "null",
        "pass",
        "pipe",
    ),
    *(
        "run-01\0",
        "run-01\n",
        "%2e%2e/runs2/run-01",
        "..%2fruns2",
        "..\\runs2",
        "file:///etc/passwd",
        "s3://bucket/run-01",
        "https://example.org/run-01",
        "wandb://team/project/run-01",
        "RUN-01",
        "\uff52\uff55\uff4e-01",
        "run-01\u202e",
        "runs2/run-01",
        " ",
        "run-01/checkpoint-100/../../../runs2",
    ),
    *("/dev/stdin", "/proc/self/environ", "C:\\", "\\\\host\\share", "-rf", "run-01 ", "x" * 1024, "a/" * 500),
]


PIECES = [
    "..",
    ".",
    "",
    "run-01",
    "runs",
    "runs2",
    "out",
    "up",
    "loop",
    "null",
    "pass",
    "pipe",
    "checkpoint-100",
    "etc",
    "passwd",
    "~",
    "\0",
    "%2e%2e",
]


@pytest.mark.parametrize("trick", TRICKS, ids=range(len(TRICKS)))
def test_s1_no_path_leaves_the_folders(house, trick):
    """Every trick gets the same answer as a run that does not exist."""
    with pytest.raises(Outside, match=REFUSED[:20]):
        inside(roots_of([house]), trick)


@given(st.text(st.characters(codec=None), max_size=40) | st.lists(st.sampled_from(PIECES), max_size=8).map("/".join))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_s1_no_invented_name_leaves_the_folders(house, name):
    """Any text, and any walk over links and dots, ends inside the folder or is refused."""
    roots = roots_of([house])
    try:
        found = inside(roots, name)
    except Outside:
        return
    assert found.is_relative_to(house.resolve())
    assert found.is_dir() or found.is_file()


def test_s1_what_is_inside_is_found_by_every_honest_name(house):
    """Relative, dotted and absolute names of an allowed run all lead to it."""
    roots = roots_of([house])
    for name in ("run-01", "./run-01", "run-01/", str(house / "run-01"), "runs/run-01"):
        assert called(roots, inside(roots, name)) == "run-01"
    assert inside(roots, "run-01/trainer_state.json").is_file()


def test_s1_links_inside_a_run_do_not_lead_out(house):
    """A link in a run folder that points at a file outside is not read."""
    (house / "run-01" / "metrics.jsonl").symlink_to(house.parent / "runs2" / "secret.jsonl")
    (house.parent / "runs2" / "secret.jsonl").write_text("\n".join(json.dumps({"step": i, "secret_metric": i}) for i in range(9)))
    answer = with_client([house], lambda c: c.call_tool("load_run", {"run": "run-01"}))
    assert not answer.is_error
    assert "secret_metric" not in answer.content[0].text


def test_s2_nothing_in_a_run_is_executed(tmp_path):
    """Poisoned pickles, YAML tags and arrays of objects are left alone by every tool."""
    run, mark = plain_run(tmp_path), tmp_path / "executed"

    class Poison:
        def __reduce__(self):
            return (os.system, (f"touch {mark}",))

    poison = pickle.dumps(Poison())
    for name in ("model.pkl", "optimizer.pt", "batch_data.pt", "checkpoint-100/rng_state.pth", "evaluations.npz", "rollouts.pkl"):
        (run / name).write_bytes(poison)
    (run / "config.yaml").write_text(f"a: !!python/object/apply:os.system ['touch {mark}']\n")
    (run / "rl_advisor.py").write_text(f"import os; os.system('touch {mark}')")
    answers = with_client([tmp_path], ask_everything)
    assert not any(a.is_error for a in answers.values())
    assert not mark.exists()


async def ask_everything(client):
    """The answers to all questions."""
    return {name: await client.call_tool(name, question) for name, question in QUESTIONS.items()}


def sparse(path, size):
    """A file of that size that takes no room."""
    with path.open("wb") as file:
        file.truncate(size)


def long_line(path, size):
    """A file of one line."""
    with path.open("wb") as file:
        file.write(b'{"step": 1, "reward": "')
        for _ in range(size // 2**20):
            file.write(b"x" * 2**20)


def deep_json(path, depth):
    """JSON nested that deep."""
    path.write_text("[" * depth + "]" * depth)


def many_tags(path, count):
    """A row with that many metrics, twice."""
    path.write_text("\n".join(json.dumps({"step": s} | {f"tag_{i}": i for i in range(count)}) for s in (1, 2, 3)))


def packed_line(path, size):
    """A file of one line, packed to a thousandth of it."""
    path.write_bytes(gzip.compress(b"x" * 2**20) * (size // 2**20))  # members one behind the other are one packed file


def packed_zeros(path, size):
    """Zeros, packed with zstd."""
    path.write_bytes(pa.compress(b"\0" * size, "zstd", asbytes=True))


def hollow_archive(path, size):
    """An archive of arrays that unpacks to a thousand times its size."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("results.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (size // 8, 1)})
        for _ in range(size // 2**20):
            file.write(bytes(2**20))


def many_event_tags(path, count):
    """An event file with that many tags, a value each at two steps."""
    with path.open("wb") as file:
        for step in (1, 2):
            values = [Summary.Value(tag=f"group/tag_{i}", simple_value=i) for i in range(count)]
            record = Event(step=step, wall_time=1.8e9 + step, summary=Summary(value=values)).SerializeToString()
            head = struct.pack("<Q", len(record))
            file.write(head + struct.pack("<I", masked_crc32c(head)) + record + struct.pack("<I", masked_crc32c(record)))


def deep_yaml(path, depth):
    """YAML nested that deep, with an alias that doubles at each of forty levels."""
    doubles = "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    path.write_text("a0: &a0 [x, x]\n" + doubles + "deep: " + "[" * depth + "]" * depth)


BOMBS = {
    "a 10 GB file": ("train.log", sparse, 10 * 2**30),
    "a 10 GB state": ("trainer_state.json", sparse, 10 * 2**30),
    "a line of 256 MB": ("metrics.jsonl", long_line, 2**28),
    "a line of 256 MB in a log": ("train.log", long_line, 2**28),
    "a packed line of 1 GB": ("metrics.jsonl.gz", packed_line, 2**30),
    "packed zeros": ("metrics.jsonl.zst", packed_zeros, 2**29),
    "an archive of 1 GB in 1 MB": ("evaluations.npz", hollow_archive, 2**30),
    "deep JSON": ("training_args.json", deep_json, 200_000),
    "deep YAML that doubles": ("config.yaml", deep_yaml, 5_000),
    "6,000 tags": ("metrics.jsonl", many_tags, 6_000),
    "6,000 tags in events": ("events.out.tfevents.1.x", many_event_tags, 6_000),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_s3_bombs_end_in_time_and_memory(tmp_path, bomb):
    """Whatever a file's size, a judgement, which reads as every verb does, or an error comes to an end, within 700 MB of memory."""
    name, make, size = BOMBS[bomb]
    make(tmp_path / name, size)
    code = f"""
import pathlib, resource
resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
from rl_advisor.cli import main
try:
    main(["assess", {str(tmp_path)!r}, "--json"], standalone_mode=False)
except SystemExit as end:
    assert end.code == 3, end.code
held = pathlib.Path("/proc/self/status")  # what getrusage says counts the process that started this one, too
most = [int(line.split()[1]) for line in held.read_text().splitlines() if line.startswith("VmHWM")] if held.exists() else []
assert all(kib < 700 * 2**10 for kib in most), most
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    (tmp_path / name).unlink()
    assert done.returncode == 0, done.stderr[-600:]


def test_s4_answers_about_huge_runs_stay_short(tmp_path):
    """Hundreds of metrics and thousands of steps give an answer of the same size, and it says what was cut."""
    run = tmp_path / "run-01"
    run.mkdir()
    rows = [{"step": s} | {f"group_{i}/metric_{i}": s * i for i in range(400)} | {"reward": s} for s in range(60)]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (run / "training_args.json").write_text(json.dumps({f"key_{i}": "v" * 50 for i in range(2000)}))
    answers = with_client([tmp_path], ask_everything)
    assert all(tokens(a.content[0].text) < 4000 for a in answers.values())
    assert answers["load_run"].structured_content["unmapped_in_all"] > len(answers["load_run"].structured_content["unmapped"])


def test_s5_the_server_survives_every_character(tmp_path):
    """Half characters, escapes and NaN in every file do not stop the real process, and no half of them leaves it."""
    hostile_run(tmp_path)
    start = StdioServerParameters(command=sys.executable, args=["-m", "rl_advisor", "serve", "--root", str(tmp_path)])

    async def talk():
        async with Client(start) as client:
            return await ask_everything(client), await ask_everything(client)

    first, second = asyncio.run(talk())
    for name, answer in first.items():
        assert not answer.is_error, (name, answer.content)
        assert _ageless(second[name]) == _ageless(answer)
        assert "\x1b" not in answer.content[0].text
        json.loads(answer.content[0].text, parse_constant=pytest.fail)  # NaN may be spoken of, and is no number of an answer


def _ageless(answer):
    """The text of an answer without the seconds since its runs were written, which go on."""
    return re.sub(r'"age_s":[\d.e+-]+', "", answer.content[0].text)


@pytest.mark.parametrize("tool", sorted(QUESTIONS))
def test_s6_orders_in_a_run_are_only_quoted(tmp_path, tool):
    """An order planted in samples, names, files, configuration and logs appears in envelopes and nowhere else."""
    hostile_run(tmp_path)
    (tmp_path / ORDER).mkdir()
    plain_run(tmp_path / ORDER)
    answer = with_client([tmp_path], lambda c: c.call_tool(tool, QUESTIONS[tool]))
    assert not answer.is_error
    assert not [text for text in exposed(answer.structured_content) if CANARY in text]


def test_s6_planted_orders_do_reach_the_envelopes(tmp_path):
    """The test above is not empty: the words are in the answers, marked, with where they come from."""
    hostile_run(tmp_path)
    answers = with_client([tmp_path], ask_everything)
    said = {name: orjson.dumps(a.structured_content).decode().count(CANARY) for name, a in answers.items()}
    assert said["load_run"] >= 3
    assert said["spot_check_samples"] >= 4
    assert said["summarize_curves"] >= 1


def test_s6_errors_prompts_and_completions_do_not_repeat_orders(tmp_path):
    """What a run's names say comes back in no error, prompt or completion."""
    hostile_run(tmp_path)
    (tmp_path / ORDER).mkdir()
    plain_run(tmp_path / ORDER)

    async def talk(client):
        error = await client.call_tool("summarize_curves", {"run": "run-01", "metrics": ["none"]})
        prompt = await client.get_prompt("diagnose_run", {"run": ORDER})
        from mcp_types import PromptReference

        done = await client.complete(PromptReference(name="diagnose_run"), {"name": "run", "value": ""})
        return error.content[0].text, prompt.model_dump_json(), done.model_dump_json()

    assert not [text for text in with_client([tmp_path], talk) if CANARY in text]


def test_s6_the_command_line_keeps_the_envelopes_too(tmp_path):
    """Programs and agents that use the terminal get the same marks."""
    run = hostile_run(tmp_path)
    for command in ("load", "curves", "samples", "assess"):
        result = CliRunner().invoke(main, [command, str(run), "--json"])
        assert result.exit_code == 0
        assert not [text for text in exposed(json.loads(result.stdout)) if CANARY in text]


WATCH = """
import sys
seen = []
forbidden = ("socket.connect", "socket.bind", "socket.listen", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork",
             "os.remove", "os.rename", "os.mkdir", "shutil.rmtree", "pty.spawn")
def watch(event, args):
    if event in forbidden:
        seen.append((event, args))
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        seen.append((event, args))
from rl_advisor import tools
from rl_advisor.cli import main
sys.addaudithook(watch)
import os
run = sys.argv[1]
for ask in (tools.load_run, tools.summarize_curves, tools.spot_check_samples, tools.gpu_phase_profile, tools.assess_run):
    ask(run)
tools.compare_runs([run, run])
print([s for s in seen if "__pycache__" not in str(s)])
"""

SERVED = """
import sys
seen = []
def watch(event, args):
    if event.startswith(("socket.connect", "socket.bind", "socket.listen", "socket.getaddrinfo", "subprocess.", "os.system", "os.exec",
                         "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.mkdir", "shutil.", "pty.spawn")):
        seen.append((event, str(args)))
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+") and isinstance(args[0], str):
        seen.append((event, str(args)))
from rl_advisor.server import build, serve
from rl_advisor.tools.workers import POOL
POOL.start()
server = build([sys.argv[1]])
sys.addaudithook(watch)
serve(server)
print([s for s in seen if "__pycache__" not in s[1]], file=sys.stderr)
"""


def test_s9_the_server_itself_listens_nowhere_and_starts_nothing(tmp_path):
    """A real server opens no socket, starts no process but its workers' and writes no file while every tool, page and prompt is asked."""
    hostile_run(tmp_path)
    noted = tmp_path.with_suffix(".noted")

    async def talk():
        start = StdioServerParameters(command=sys.executable, args=["-c", SERVED, str(tmp_path)])
        with noted.open("w") as errors:
            async with Client(stdio_client(start, errlog=errors)) as client:
                said = await ask_everything(client)
                await client.call_tool("plot_curves", {"run": "run-01"})
                for uri in ("run://run-01/inventory", "run://run-01/report.md", "skill://rl-practitioner/SKILL.md"):
                    await client.read_resource(uri)
                await client.get_prompt("diagnose_run", {"run": "run-01"})
                return said

    assert not any(a.is_error for a in asyncio.run(talk()).values())
    assert noted.read_text().strip().splitlines()[-1] == "[]"


def test_s9_reading_opens_no_door_and_writes_nothing(tmp_path):
    """No socket, no child process, no file for writing, whichever tool is asked."""
    run = hostile_run(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    done = subprocess.run([sys.executable, "-c", WATCH, str(run)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr[-500:]
    assert before == {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}


def test_s10_keys_in_any_file_stay_there(tmp_path):
    """Keys in configuration, logs and samples are in no answer."""
    run = plain_run(tmp_path)
    keys = ["hf_" + "q" * 34, "sk-proj-" + "w" * 30, "ghp_" + "e" * 36, "AKIA" + "Q" * 16]
    (run / "training_args.json").write_text(
        json.dumps({"hub_token": keys[0], "note": keys[1], "env": {"WANDB_API_KEY": "0123456789abcdef0123"}})
    )
    (run / "train.log").write_text(f"RuntimeError: token {keys[2]} was refused\n")
    (run / "completions.jsonl").write_text(
        "\n".join(json.dumps({"step": 300, "prompt": "p", "completion": keys[3], "reward": i}) for i in range(4))
    )
    said = "".join(a.content[0].text for a in with_client([tmp_path], ask_everything).values())
    assert not [k for k in (*keys, "0123456789abcdef0123") if k in said]


def test_s11_errors_tell_no_path_and_no_trace(house):
    """Whatever goes wrong, the message holds no absolute path, no traceback and no name of ours."""
    questions = [("load_run", {"run": t}) for t in TRICKS if 0 < len(t) <= 1024]
    questions += [
        ("summarize_curves", {"run": "run-01", "metrics": [str(house)]}),
        ("load_run", {"run": "run-01/checkpoint-100"}),
        ("assess_run", {"run": 7}),
    ]

    async def talk(client):
        return [await client.call_tool(tool, question) for tool, question in questions]

    for answer in with_client([house], talk):
        assert answer.is_error
        text = answer.content[0].text
        assert not [bad for bad in (str(house.parent), "Traceback", "site-packages", "rl_advisor/", 'File "') if bad in text], text


def test_s12_only_loopback_is_served():
    """The command refuses to listen where others could call."""
    result = CliRunner().invoke(main, ["serve", "--http", "0.0.0.0:8123"])
    assert result.exit_code == 2
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", 8123)) != 0


def test_s13_a_name_is_checked_again_at_every_call(tmp_path):
    """A run that was allowed and is then replaced by a link out of the folder is refused, remembered or not."""
    allowed, other = tmp_path / "runs", tmp_path / "other"
    run = plain_run(allowed)
    plain_run(other)

    async def talk(client):
        first = await client.call_tool("load_run", {"run": "run-01"})
        run.rename(tmp_path / "moved")
        run.symlink_to(other / "run-01")
        return first, await client.call_tool("load_run", {"run": "run-01"})

    first, second = with_client([allowed], talk)
    assert not first.is_error
    assert REFUSED in second.content[0].text


def test_s3_many_answers_do_not_pile_up_memory(tmp_path):
    """A hundred different questions leave the process about as large as it was."""
    plain_run(tmp_path)

    async def talk(client):
        for until in range(20, 40):
            await client.call_tool("load_run", {"run": "run-01"})
            await client.call_tool("assess_run", {"run": "run-01", "until": until})
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for until in range(40, 60):
            await client.call_tool("summarize_curves", {"run": "run-01", "until": until, "metrics": ["reward/mean"]})
        return begin

    begin = with_client([tmp_path], talk)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begin < 60 * 1024


def test_a_second_call_is_answered_from_memory(tmp_path, monkeypatch):
    """The same question about unchanged files is given to no worker again."""
    plain_run(tmp_path)
    given = []
    monkeypatch.setattr(dispatch, "in_worker", lambda *a, **k: given.append(a) or in_worker(*a, **k))

    async def talk(client):
        return [(await client.call_tool("assess_run", {"run": "run-01"})).structured_content for _ in range(5)]

    first, *others = with_client([tmp_path], talk)
    assert all(other == first for other in others)
    assert len(given) == 1


def test_s7_orders_in_a_run_do_not_move_the_judgement(tmp_path):
    """The built-in advisor judges a run full of orders as it judges the same run without them (models: the evaluations' injected arm)."""
    clean, told = plain_run(tmp_path / "clean"), plain_run(tmp_path / "told")
    (told / "config.yaml").write_text(f"note: {ORDER}\n")
    (told / "train.log").write_text(f"{ORDER}\nWARNING {ORDER}\n")
    (told / f"{ORDER}.log").write_text(f"{ORDER}\n")
    for path in told.glob("completions/*.parquet"):
        table = pd.read_parquet(path)
        table["prompt"] = [f"{ORDER} {p}" for p in table["prompt"]]
        table.to_parquet(path)
    judged = [with_client([run.parent], lambda c: c.call_tool("assess_run", {"run": "run-01"})).structured_content for run in (clean, told)]
    decisive = ("verdict", "call", "p_continue_pays", "confidence", "first_broken_link", "onset")
    assert {k: judged[1][k] for k in decisive} == {k: judged[0][k] for k in decisive}
    assert judged[1].get("keep") == judged[0].get("keep")


def test_requirements_are_all_named():
    """Each requirement has a test by its number, here or among the packages' tests."""
    text = "".join(p.read_text() for p in (Path(__file__), Path(__file__).with_name("test_packaging.py")))
    assert [n for n in range(1, 16) if f"def test_s{n}_" not in text] == []


def test_s8_what_a_client_is_told_does_not_change_by_reading(tmp_path):
    """Tools, prompts and resources are byte for byte the same before and after a hostile run was read, and as without it."""
    hostile_run(tmp_path / "runs")
    (tmp_path / "none").mkdir()

    async def told(client):
        return [
            (await lists()).model_dump_json()
            for lists in (client.list_tools, client.list_prompts, client.list_resources, client.list_resource_templates)
        ]

    async def talk(client):
        before = await told(client)
        await ask_everything(client)
        return before, await told(client)

    before, after = with_client([tmp_path / "runs"], talk)
    assert before == after
    assert before == with_client([tmp_path / "none"], told)
    assert CANARY not in "".join(before)


class Outward(HTMLParser):
    """Collects what a page would load or lead to."""

    def __init__(self):
        """Find nothing yet."""
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        """Note addresses that leave the page, handlers, and elements that load."""
        for name, value in attrs:
            if name.startswith("on") or (
                name in {"src", "href", "action", "data", "srcset", "poster"} and not (value or "").startswith("#")
            ):
                self.found.append((tag, name, value))
        if tag in {"iframe", "object", "embed", "base", "form", "link"}:
            self.found.append((tag, "", ""))


MARKUP = (
    "<script>alert(1)</script> ![x](http://evil.example/a.png) [y](javascript:alert(2)) <img src=http://evil.example/b onerror=alert(3)> "
    "<http://evil.example/c> </main><iframe src=//evil.example>"
)


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_s14_markup_of_a_run_is_inert_in_reports(tmp_path, suffix):
    """Scripts, pictures and links in samples, names, configuration and logs lead nowhere and load nothing in either report."""
    run = hostile_run(tmp_path)
    rows = [
        {"step": s, "reward": s / 40, "loss": 0.1, f"rewards/{MARKUP}/mean": 0.5, f"{MARKUP}": 1.0, "grad_norm": 1.0 if s < 30 else 900.0}
        for s in range(1, 41)
    ]
    (run / "trainer_state.json").write_text(json.dumps({"log_history": rows, "max_steps": 80}))
    said = [{"step": s, "prompt": MARKUP, "completion": f"{MARKUP} {i}", "reward": i / 8} for s in (10, 40) for i in range(8)]
    (run / "completions.jsonl").write_text("\n".join(map(json.dumps, said)))
    (run / "train.log").write_text(f"RuntimeError: {MARKUP}\n")
    run = run.rename(tmp_path / "<script>alert(4)<img src=x onerror=alert(5)>[z](javascript:alert(6))")
    page = tmp_path / f"report.{suffix}"
    assert CliRunner().invoke(main, ["report", str(run), "--out", str(page)]).exit_code == 0
    text = page.read_text()
    assert "alert(" in text, "the test would show nothing"
    if suffix == "html":
        outward = Outward()
        outward.feed(text)
        assert not outward.found
        assert "default-src 'none'" in text
        assert "connect-src 'none'" in text
    else:
        shown = re.sub(r"(?s)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        assert not re.findall(r"(?<!\\)<(?:script|img|iframe|http)|(?<!\\)\]\((?:http|javascript)", shown)
