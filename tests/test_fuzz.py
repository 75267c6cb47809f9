"""A bounded share of the fuzzing: damaged files of every kind and senseless questions end in an answer or a refusal (long: make fuzz)."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from mcp import Client
from rl_advisor.output.budget import tokens
from rl_advisor.reading import READER_FAILED, UnreadableRun, format_of, read_run
from rl_advisor.run import Curve, Run
from rl_advisor.server import build

from doors import DATA
from mutating import MADE, damaged, fixtures, questions, shortened

ROOT = Path(__file__).parents[1]
SMALL = [*{p.name: (p.name, shortened(p)) for p in fixtures()}.values(), *((name.rpartition("/")[2], data) for name, data in MADE)]
SEEKERS = ["fuzz.py", *(["fuzz_atheris.py"] if find_spec("atheris") else [])]
"""What looks for inputs: hypothesis everywhere, atheris on the machines for which it is built."""


def outcome(path):
    """What became of a file: read with a named format, or refused with its name."""
    try:
        run = read_run(path)
    except UnreadableRun as said:
        return "refused" if path.name in str(said) and READER_FAILED not in str(said) else f"refused without a name: {said}"
    failed = [gap for gap in run.gaps if READER_FAILED in gap.why]
    return f"a reader failed: {failed}" if failed else "read" if run.formats else "read, by nobody"


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=damaged(SMALL))
def test_damaged_files_end_in_a_run_or_a_refusal(tmp_path, made):
    """Whatever is done to a good file, reading it raises nothing but the one exception that says that it cannot be read."""
    path = tmp_path / made[0]
    path.write_bytes(made[1])
    assert outcome(path) in {"read", "refused"}


@pytest.mark.parametrize("script", SEEKERS)
def test_the_long_search_runs_and_finds_nothing_in_a_few_inputs(script):
    """`make fuzz` in short: every format has a file to begin with, inputs are tried, and none breaks anything."""
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / script, "--inputs", "30", "--seconds", "600", "--seed", "11"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    tried = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) inputs", done.stdout)]
    assert len(tried) == (2 if script == "fuzz.py" else 1)
    assert min(tried) == 30


def test_the_long_search_knows_what_a_terminal_wrapped(tmp_path):
    """A number that goes on in the next line stands in the file; one that the file does not hold is a finding."""
    from benchmarks import fuzz

    rows = "".join(f"{{'loss': 0.25, 'reward': 0.{i}, 'kl': 0.0677401\n6469717026{i}, 'epoch': 0.{i}}}\n" for i in range(1, 5))
    assert fuzz.read_one(tmp_path, "train.log", rows.encode(), whole=False) == "dict_console"
    with pytest.raises(fuzz.Broke, match="loss: 0"):
        fuzz.held_to(Run(curves={"loss": Curve("loss", "loss", "", np.arange(2.0), np.array([0.25, 0.75]))}), "dict_console", rows.encode())


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nvitop.csv", "timestamp,m/cuda:0 (gpu:3)/gpu_utilization (%)/mean\n", "refused"),
        ("amd.csv", "timestamp,\rgpu,gfx_activity\n1795218561,0,7\n", "refused"),
        ("gpu.csv", "timestamp, index, power.draw [W]\n2026/11/20 23:49:21.9231234567, 0, 80 W\n2026-11-20T23:49:22+01:00, 0, x\n", "read"),
        ("gpus.csv", "timestamp,gpu/0/power\n4052-11-20T23:49:21.923,80.27\n0261-11-20T23:49:22,80\n", "read"),
        ("dmon.log", "#Date       Time        gpu   pwr\n#YYYYMMDD   HH:MM:SS    Idx     W\n 0261120   23:49:21      0    80\n", "refused"),
        ("train.log", "{'loss': 0.25, 'reward': 6_.0, 'epoch': 0.1}\n" * 3, "read"),
        ("eval.parquet", "PAR1 is not what follows", "refused"),
        ("progress.csv", "step,reward,loss\n1,8.91_0004,2\n2,0.5,1\n3,0.25,0.5\n", "read"),
        ("rewards.npy", "\x93NUMPY\x01\x00\x28\x00{'descr': '<f8', 'shape': (3," + " " * 14, "refused"),
        ("rewards.npy", "\x93NUMPY\x01\x00\x00\x04" + "(" * 1024, "refused"),
        ("completions.jsonl", '{"step": 1, "prompt": "a", "response": "b", "reward": 1, "finish_reason": "\u00b2"}\n' * 3, "read"),
    ],
)
def test_what_fuzzing_once_broke(tmp_path, name, text, told):
    """Inputs that once raised are read as far as they go, or refused."""
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1" if name.endswith("npy") else "utf-8"))
    assert format_of(path) is not None
    assert outcome(path) == told


def test_senseless_questions_are_answered_or_refused():
    """Arguments at, past and beside their bounds give an answer with equal halves or a refusal that says something."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(build([DATA]))) as client:
        schemas = {t.name: t.input_schema for t in portal.call(client.list_tools).tools}

        @settings(max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
        @given(questions(schemas))
        def ask(question):
            tool, asked = question
            answer = portal.call(client.call_tool, tool, asked)
            if answer.is_error:
                assert answer.content[0].text != f"Error executing tool {tool}"
            elif tool != "plot_curves":
                assert tokens(answer.content[0].text) <= 4000
                assert json.loads(answer.content[0].text) == answer.structured_content

        ask()
