"""Writes the vendors' plugin manifests, the desktop bundle's and the registry's entry from one source: pyproject.toml.

``python packaging/generate.py`` writes; with ``--check`` it says what is not current. The repository itself is the plugin of every
vendor, so that each finds the one copy of the skill; installed plugins follow no links, and copies grow apart.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
OWNER = "rl-advisor"
TITLE = "RL advisor"
CLI = "rl-advisor"


def project() -> dict[str, Any]:
    """Name, version, description and keywords as pyproject.toml and the package say them."""
    facts: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    init = (ROOT / "rl_advisor" / "__init__.py").read_text()
    return {**facts, "version": init.split('__version__ = "', 1)[1].split('"', 1)[0]}


def files() -> dict[str, str]:
    """Every generated file's text by its path from the root."""
    facts = project()
    plugin = _plugin(facts)
    written: dict[str, Any] = {
        ".claude-plugin/plugin.json": plugin | {"mcpServers": {CLI: _start("${CLAUDE_PROJECT_DIR}")}},
        ".claude-plugin/marketplace.json": _marketplace(facts),
        ".codex-plugin/plugin.json": plugin | {"skills": "./skills/", "mcpServers": "./.codex-plugin/mcp.json"},
        ".codex-plugin/mcp.json": {"mcpServers": {CLI: _start(".")}},
        ".github/plugin/marketplace.json": _marketplace(facts),
        "plugin.json": plugin | {"skills": "./skills/", "mcpServers": "./.codex-plugin/mcp.json"},
        "gemini-extension.json": _gemini(facts),
        "server.json": _registry(facts),
        "packaging/vscode/mcp.json": {"servers": {CLI: {"type": "stdio"} | _start("${workspaceFolder}")}},
        "packaging/cursor/mcp.json": {"mcpServers": {CLI: _start("${workspaceFolder}")}},
        "packaging/mcpb/manifest.json": _bundle(facts),
    }
    return {path: json.dumps(value, indent=2) + "\n" for path, value in written.items()} | _uv_project(facts)


def _start(folder: str) -> dict[str, Any]:
    """How every client starts the server: the installed command, reading below the client's folder."""
    return {"command": CLI, "args": ["serve", "--root", folder]}


def _plugin(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": CLI,
        "version": facts["version"],
        "description": facts["description"],
        "author": {"name": "The rl-advisor authors"},
        "license": facts["license"],
        "keywords": facts["keywords"],
    }


def _marketplace(facts: dict[str, Any]) -> dict[str, Any]:
    entry = {"name": CLI, "source": "./", "description": facts["description"], "version": facts["version"]}
    return {
        "name": OWNER,
        "owner": {"name": "The rl-advisor authors"},
        "metadata": {"description": facts["description"]},
        "plugins": [entry],
    }


def _gemini(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": CLI,
        "version": facts["version"],
        "description": facts["description"],
        "contextFileName": "prompts/instructions.md",
        "mcpServers": {CLI: _start("${workspacePath}")},
    }


def _bundle(facts: dict[str, Any]) -> dict[str, Any]:
    """The manifest of the desktop bundle: the client's uv installs the package, the user picks the folders."""
    return {
        "manifest_version": "0.4",
        "name": CLI,
        "display_name": TITLE,
        "version": facts["version"],
        "description": facts["description"],
        "author": {"name": "The rl-advisor authors"},
        "license": facts["license"],
        "keywords": facts["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", "server.py", "${user_config.roots}"]},
        },
        "user_config": {
            "roots": {
                "type": "directory",
                "title": "Folders with runs",
                "description": "The server reads below these folders and nowhere else.",
                "multiple": True,
                "required": True,
            }
        },
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": facts["requires-python"]}},
    }


def _uv_project(facts: dict[str, Any]) -> dict[str, str]:
    """The bundle's little project: the package as a wheel, its libraries pinned, a script that takes the picked folders as roots."""
    lines = [
        "[project]",
        'name = "rl-advisor-bundle"',
        f'version = "{facts["version"]}"',
        f'requires-python = "{facts["requires-python"]}"',
        f'dependencies = ["rl-advisor=={facts["version"]}"]',
        "",
        "[tool.uv]",
        "package = false",
        "constraint-dependencies = [",
        *(f'    "{pin}",' for pin in _pins()),
        "]",
        "",
        "[tool.uv.sources]",
        f'rl-advisor = {{ path = "rl_advisor-{facts["version"]}-py3-none-any.whl" }}',
        "",
    ]
    script = [
        '"""Serves the folders named on the command line."""',
        "",
        "import sys",
        "",
        "from rl_advisor.server import build, serve",
        "",
        "serve(build(sys.argv[1:]))",
        "",
    ]
    return {"packaging/mcpb/pyproject.toml": "\n".join(lines), "packaging/mcpb/server.py": "\n".join(script)}


def _pins() -> list[str]:
    """The libraries that the package itself installs, as the lock with hashes pins them."""
    lines = (ROOT / "packaging" / "requirements.txt").read_text().splitlines()
    return [line.removesuffix(" \\") for line in lines if line[:1].isalnum()]


def _registry(facts: dict[str, Any]) -> dict[str, Any]:
    """The registry's entry; its owner part is filled in by who publishes, as the name must be an account of theirs."""
    package = {
        "registryType": "pypi",
        "identifier": CLI,
        "version": facts["version"],
        "runtimeHint": "uvx",
        "packageArguments": [
            {"type": "positional", "value": "serve"},
            {"type": "named", "name": "--root", "description": "Folder that may be read", "format": "filepath", "isRequired": True},
        ],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{OWNER}/{CLI}",
        "title": TITLE,
        "description": _short(facts["description"]),
        "version": facts["version"],
        "packages": [package],
    }


def _short(text: str) -> str:
    """The first hundred characters, which is all that the registry takes, ended at a word."""
    return text if len(text) <= 100 else text[:97].rsplit(" ", 1)[0].rstrip(",") + "..."


def stale() -> list[str]:
    """What is not as it would be written now."""
    return sorted(path for path, text in files().items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text)


def main() -> int:
    """Write everything, or with ``--check`` name what is stale."""
    if "--check" in sys.argv:
        sys.stdout.write("\n".join(stale() or ["current"]) + "\n")
        return bool(stale())
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
    sys.stdout.write(f"{len(files())} files written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
