"""Counts the tokens of every tool's answer with vendors' own tokenizers, which judges.py installs.

Asked are two real runs and one of a thousand metrics. An answer may have 4,000 tokens by any of the tokenizers, and the estimate by
which answers are cut (``rl_advisor.output.budget``) must never be below the count.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from rl_advisor.output.budget import tokens  # noqa: E402

from doors import DATA, QUESTIONS, with_client  # noqa: E402 - as above

MOST, TAGS, STEPS = 4000, 1000, 200
PACKAGES = ("gpt-tokenizer@4.0.0", "@anthropic-ai/tokenizer@0.0.4")
COUNT = """
const o200k = require("gpt-tokenizer/cjs/encoding/o200k_base"), cl100k = require("gpt-tokenizer/cjs/encoding/cl100k_base")
const claude = require("@anthropic-ai/tokenizer")
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"))
console.log(JSON.stringify(texts.map(t =>
  ({o200k: o200k.encode(t).length, cl100k: cl100k.encode(t).length, claude: claude.countTokens(t)}))))
"""


def wide_run(folder: Path) -> Path:
    """A run of a thousand metrics, samples in scripts that cost many tokens, and two thousand settings."""
    run = folder / "wide"
    run.mkdir()
    rows = [
        {"step": s, "reward": 0.5 + 0.4 * math.sin(s / 30), "eval/accuracy": min(1, s / 150), "kl": s * 1e-4, "entropy": 2 - s / 150}
        | {f"group_{i % 37}/tag_{i}/mean": math.sin(s * i + 0.1) * 1.2345e-3 * i for i in range(TAGS)}
        for s in range(1, STEPS + 1)
    ]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = [
        {
            "step": s,
            "prompt": "Сколько будет 17*23? 計算してください " * 20,
            "completion": "Давайте посчитаем: 391. 答えは391です。" * 60,
            "reward": i / 32,
        }
        for s in (1, 100, STEPS)
        for i in range(32)
    ]
    (run / "completions.jsonl").write_text("\n".join(map(json.dumps, said)))
    (run / "config.yaml").write_text("\n".join(f"key_{i}: value_{i}_0x{i:08x}" for i in range(2000)))
    return run


def answers() -> Iterator[tuple[str, str]]:
    """Run and tool, and the answer's text."""
    with tempfile.TemporaryDirectory() as folder:
        for run in (DATA / "run-01", ROOT / "examples" / "grpo-run", wide_run(Path(folder))):

            async def ask(client: Any, name: str = run.name) -> list[tuple[str, str]]:
                said = []
                for tool, question in QUESTIONS.items():
                    named = {k: name if k == "run" else [name, name] for k in question}
                    wide = named | ({"count": 10} if tool == "spot_check_samples" else {})
                    said.append((f"{name} {tool}", (await client.call_tool(tool, wide)).content[0].text))
                return said

            yield from with_client([run.parent], ask)


def rows(node: Path, modules: Path) -> Iterator[tuple[str, bool, str]]:
    """A row for each answer: whether it is short enough, and the counts."""
    said = list(answers())
    done = subprocess.run(
        [node, "-e", COUNT], input=json.dumps([text for _, text in said]), capture_output=True, text=True, check=True, cwd=modules
    )
    for (name, text), counts in zip(said, json.loads(done.stdout), strict=True):
        most, estimate = max(counts.values()), tokens(text)
        yield f"tokens {name}", most <= min(MOST, estimate), f"{counts}, estimated {estimate}, {len(text)} characters"
