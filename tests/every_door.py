"""Run by a plain interpreter: every command, every MCP tool and the Python API's verbs about bundled runs; prints what failed as JSON.

``python every_door.py REPOSITORY FOLDER``: the repository with the runs, and a folder to write into.
"""

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path

from click.testing import CliRunner
from mcp import Client, StdioServerParameters

ROOT, OUT = Path(sys.argv[1]), Path(sys.argv[2])
RUN, PAIR = str(ROOT / "examples" / "grpo-run"), ROOT / "tests" / "data" / "engine_pairs" / "precision"
MANY = [str(ROOT / "evals" / "corpus" / "classic" / "runs" / f"classic-{n:02}") for n in range(1, 9)]
BATCH, MODEL = OUT / "batch.csv", OUT / "config.json"
EXTRA = 2
"""Exit code of a command whose extra is not there."""


def commands():
    """Arguments of each command, and the exit codes that are right."""
    one, other = str(PAIR / "trainer.jsonl"), str(PAIR / "engine.jsonl")
    corpus = str(ROOT / "tests" / "data" / "corpus")
    return {
        "load": [[RUN]],
        "curves": [[RUN], [RUN, "--metric", "kl"]],
        "samples": [[RUN], [RUN, "--audit", "5"], [RUN, "--audit", str(OUT / "audit.csv")]],
        "gpu": [[str(ROOT / "tests" / "data" / "gpu" / "balanced")]],
        "assess": [
            [RUN],
            [RUN, "--until", "100", "-v"],
            [MANY[0], *(w for good in MANY[1:4] for w in ("--against", good)), "--out", str(OUT / "a.html")],
        ],
        "case": [["open", RUN, "--cases", str(OUT / "cases")], ["list", "--cases", str(OUT / "cases"), "--json"]],
        "report": [[RUN, "--out", str(OUT / "r.md")], [RUN, "--to", "tensorboard"]],
        "compare": [[*MANY[:4], "--out", str(OUT / "c.html")], [*MANY[:2], "--probe"]],
        "explain": [["kl"], [str(ROOT / "examples" / "grpo-run" / "trainer_state.json")]],
        "check": [[RUN]],
        "preflight": [["--model", str(MODEL)], [RUN]],
        "critic": [[str(BATCH)]],
        "consistency": [[one, other]],
        "memory": [[str(MODEL)]],
        "fetch": [["https://127.0.0.1:9/run/", "--out", str(OUT)]],
        "record": [["--out", str(OUT / "g.csv")]],
        "watch": [[RUN, "--every", "0.01", "--idle", "0.01", "--state", str(OUT / "state.json")]],
        "triage": [
            [*MANY, "--no-store", "--common", "--page", str(OUT / "t.html"), "--parquet", str(OUT / "t.parquet")],
            [*MANY[:2], "--store", str(OUT / "t.sqlite"), "--reports", str(OUT)],
        ],
        "serve": [["--root", "no-such-folder"]],
        "eval": [[corpus, "--cut", "0.5"]],
    }


CODES = {"report --to": {EXTRA}, "fetch": {EXTRA}, "record": {EXTRA}, "serve": {2}, "watch": {0, 10}}


def by_commands():
    """What went wrong in the terminal."""
    from rl_advisor.cli.commands import main

    asked = commands()
    if missing := set(main.commands) ^ set(asked):
        yield f"commands without a line here, or lines without a command: {sorted(missing)}"
    for name, lines in asked.items():
        for line in lines:
            done = CliRunner().invoke(main, [name, *line])
            right = CODES.get(f"{name} --to" if "--to" in line else name, {0})
            if done.exit_code not in right or "a fault of rl-advisor" in done.output or "Traceback" in done.output:
                yield f"{name} {' '.join(line)}: {done.exit_code} {done.output[-600:]} {done.exception!r}"


def questions():
    """Arguments of each tool."""
    run, pair, batch, config = "examples/grpo-run", f"{PAIR.relative_to(ROOT)}", BATCH.name, MODEL.name
    return {
        "list_runs": {},
        "load_run": {"run": run},
        "summarize_curves": {"run": run},
        "plot_curves": {"run": run},
        "spot_check_samples": {"run": run},
        "gpu_phase_profile": {"run": run},
        "assess_run": {"run": MANY[0], "against": MANY[1:3]},
        "compare_runs": {"runs": MANY[:2]},
        "explain_finding": {"run": run, "pattern": "learning_rate_jump"},
        "explain_log": {"text": "reward 0.1 kl 12"},
        "check_settings": {"text": "algo: ppo\nlearning_rate: 0.5\n"},
        "triage_runs": {"root": "tests/data/corpus"},
        "preflight": {"model": config},
        "check_critic": {"batch": batch},
        "estimate_memory": {"config": config},
        "compare_engines": {"trainer": f"{pair}/trainer.jsonl", "engine": f"{pair}/engine.jsonl"},
    }


async def by_tools():
    """What went wrong over the protocol, asked of the real process."""
    start = StdioServerParameters(
        command=sys.executable, args=["-m", "rl_advisor", "serve", "--root", str(ROOT), "--root", str(OUT)], env=dict(os.environ)
    )
    wrong = []
    async with Client(start) as client:
        asked, there = questions(), {t.name for t in (await client.list_tools()).tools}
        if missing := there ^ set(asked):
            wrong.append(f"tools without a line here, or lines without a tool: {sorted(missing)}")
        for name, arguments in asked.items():
            answer = await client.call_tool(name, arguments)
            if answer.is_error:
                wrong.append(f"{name}: {answer.content[0].text[:600]}")
    return wrong


def by_python():
    """What went wrong in the API."""
    import rl_advisor as rl

    try:
        run = rl.read(RUN)
        run.frame()
        rl.diagnose(run)
        rl.assess(run, until=200).page()
        rl.compare(*MANY[:4])
    except Exception:  # noqa: BLE001 - all of it is told
        yield traceback.format_exc()


if __name__ == "__main__":
    BATCH.write_text("obs_0,obs_1,return,value\n" + "".join(f"{i % 7},{i % 3},{i % 7 + 0.1 * (i % 5)},{i % 7}\n" for i in range(300)))
    MODEL.write_text(
        json.dumps({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 500})
    )
    sys.stdout.write(json.dumps([*by_commands(), *asyncio.run(by_tools()), *by_python()]))
