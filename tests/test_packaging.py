"""What is shipped beside the code: manifests that are current, dependencies that are few and pinned, plugins without hooks."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
MANIFESTS = (
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    "plugin.json",
    "gemini-extension.json",
    "packaging/mcpb/manifest.json",
)
FEW = 11
"""Libraries that the package itself may ask for; a new one is a decision."""


def test_manifests_are_current():
    """What is committed is what the generator writes now."""
    done = subprocess.run([sys.executable, "packaging/generate.py", "--check"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout.strip(), done.returncode) == ("current", 0), done.stderr


def test_manifests_start_only_the_server():
    """No manifest brings hooks, commands or agents, and the only program that any of them starts is ours or its installer."""
    for path in MANIFESTS:
        manifest = json.loads((ROOT / path).read_text())
        assert not {"hooks", "commands", "agents", "lspServers"} & set(manifest), path
        assert set(re.findall(r'"command": "([^"]*)"', json.dumps(manifest))) <= {"rl-advisor", "uv"}, path


def test_the_registry_takes_the_entry():
    """Name, length of the description and the package's version are as the registry wants them."""
    entry = json.loads((ROOT / "server.json").read_text())
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert len(entry["description"]) <= 100
    assert {entry["version"]} == {p["version"] for p in entry["packages"]}


def test_s15_dependencies_are_few_and_pinned():
    """Every library that pyproject asks for is pinned to one version in the lock, and the package itself asks for few."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {_name(line): line for line in (ROOT / "requirements.lock").read_text().splitlines() if re.match(r"[A-Za-z]", line)}
    assert all(re.match(r"[A-Za-z0-9._\[\]-]+==\d", line) for line in pinned.values())
    assert len(project["dependencies"]) <= FEW
    asked = {_name(d) for d in project["dependencies"]}
    assert asked - set(pinned) == set()


def test_s15_what_the_package_installs_is_pinned_by_hash():
    """The lock of the bundle has a hash for every file that may be installed, the same versions as the lock, and no address."""
    text = (ROOT / "packaging" / "requirements.txt").read_text()
    entries = [e for e in re.split(r"\n(?=[A-Za-z])", text) if e.strip()]
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", e) for e in entries)
    assert "://" not in text
    pins = {e.split()[0] for e in entries}
    assert pins <= {line.split()[0] for line in (ROOT / "requirements.lock").read_text().splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {_name(d) for d in project["dependencies"]} <= {_name(p) for p in pins}


def test_s15_nothing_is_imported_that_nobody_asked_for():
    """The package imports at run time only what pyproject names, or what it names as an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {_name(d) for d in (*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra))}
    known = {"yaml": "pyyaml", "mcp_types": "mcp", "anyio": "mcp", "PIL": "pillow", "mlflow": "mlflow-skinny"}
    implied = {"anyio": "mcp", "httpx2": "mcp", "uvicorn": "mcp"}
    hosts = {
        "transformers",
        "accelerate",
        "stable-baselines3",
        "lightning",
        "pytorch-lightning",
        "verl",
    }  # the trainers in whose process a callback runs
    used = set()
    for path in (ROOT / "rl_advisor").rglob("*.py"):
        used |= {name.partition(".")[0] for node in ast.walk(ast.parse(path.read_text())) for name in _imported(node)}
    foreign = {known.get(name, name) for name in used - set(sys.stdlib_module_names) - {"rl_advisor"}}
    assert {name for name in foreign if _name(name) not in asked | hosts and implied.get(name) not in asked} == set()


def test_extras_are_named_as_they_can_be_installed():
    """The package's name is no one's on the index: nothing says ``rl-advisor`` with an extra behind it, all of it says ``.[extra]``."""
    texts = [p for pattern in ("*.md", "rl_advisor/**/*.py", "docs/**/*.md", "evals/*") for p in ROOT.glob(pattern) if p.is_file()]
    assert [p.name for p in texts if re.search(r"rl-advisor\[", p.read_text(errors="replace"))] == []


def _imported(node):
    """The modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def _name(requirement):
    """The normal form of a requirement's name."""
    return re.split(r"[^A-Za-z0-9._-]", requirement.strip())[0].lower().replace("_", "-")


def test_no_conflict_is_committed() -> None:
    """No page and no module holds the marks of a merge that was not finished."""
    marks = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
    texts = [p for pattern in ("*.md", "docs/**/*.md", "rl_advisor/**/*", "tests/**/*.py", "evals/*.md") for p in ROOT.glob(pattern)]
    assert not [p.name for p in texts if p.suffix in (".md", ".py", ".toml", ".css", ".js") and marks.search(p.read_text(encoding="utf-8"))]
