"""A bounded share of the fuzzing: damaged files of every kind and senseless questions end in an answer or a refusal (long: make fuzz)."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rl_advisor.doors.budget import tokens
from rl_advisor.reading import UnreadableRun, format_of, read_run

from doors import DATA, with_client
from mutating import arguments, fixtures, mutated, shortened

SMALL = sorted({p.name: p for p in fixtures()}.values())


def outcome(path):
    """What became of a file: read with a named format, or refused with its name."""
    try:
        return "read" if read_run(path).formats else "read, by nobody"
    except UnreadableRun as said:
        return "refused" if path.name in str(said) else f"refused without a name: {said}"


@settings(max_examples=300, deadline=5000, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(SMALL), seed=st.integers(0, 2**32))
def test_damaged_files_end_in_a_run_or_a_refusal(tmp_path, path, seed):
    """Whatever is done to a good file, reading it raises nothing but the one exception that says that it cannot be read."""
    damaged = tmp_path / path.name
    damaged.write_bytes(mutated(shortened(path), random.Random(seed)))  # noqa: S311 - damage is no secret
    assert outcome(damaged) in {"read", "refused"}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nvitop.csv", "timestamp,m/cuda:0 (gpu:3)/gpu_utilization (%)/mean\n", "refused"),
        ("amd.csv", "timestamp,\rgpu,gfx_activity\n1795218561,0,7\n", "refused"),
        ("gpu.csv", "timestamp, index, power.draw [W]\n2026/11/20 23:49:21.9231234567, 0, 80 W\n2026-11-20T23:49:22+01:00, 0, x\n", "read"),
        ("train.log", "{'loss': 0.25, 'reward': 6_.0, 'epoch': 0.1}\n" * 3, "read"),
        ("eval.parquet", "PAR1 is not what follows", "refused"),
    ],
)
def test_what_fuzzing_once_broke(tmp_path, name, text, told):
    """Inputs that once raised are read as far as they go, or refused."""
    path = tmp_path / name
    path.write_text(text)
    assert format_of(path) is not None
    assert outcome(path) == told


def test_senseless_questions_are_answered_or_refused():
    """Arguments at, past and beside their bounds give an answer with equal halves or a refusal that says something."""
    dice = random.Random(7)  # noqa: S311 - as above

    async def talk(client):
        schemas = {t.name: t.input_schema for t in (await client.list_tools()).tools}
        calls = [(tool, arguments(schemas[tool], dice)) for tool in sorted(schemas) for _ in range(40)]
        return [(tool, asked, await client.call_tool(tool, asked)) for tool, asked in calls]

    for tool, asked, answer in with_client([DATA], talk):
        if answer.is_error:
            assert answer.content[0].text != f"Error executing tool {tool}", asked
        elif tool != "plot_curves":
            assert tokens(answer.content[0].text) <= 4000, asked
