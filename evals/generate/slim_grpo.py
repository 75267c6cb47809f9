"""Writes the GRPO part of the corpus from the full recordings: ``python evals/generate/slim_grpo.py SOURCE OUT``.

SOURCE is a corpus whose runs hold what TRL wrote (trainer state, arguments, completions, console log, TensorBoard). Kept of each chosen
run are the trainer state, the arguments, a few of the completion files, the names of the checkpoints, and the lines of the console log
that tell of a crash. Numbers keep six significant digits. Needs nothing but the standard library; the same input gives the same files.
"""

import argparse
import json
import math
import re
import shutil
from hashlib import sha256
from pathlib import Path

from amend import amended

ROLLOUTS = 7
FAULTY = 17
"""Families with a fault that are kept, one run each, so that four runs in ten of the whole corpus are sound."""
SMOKE = ("healthy-sort", "lr-spike", "random-reward")
"""Families of the quick split. No family is called test: rules were written while looking at these runs."""
_CRASH = re.compile(r"^(Traceback|  File |\w*(\.\w+)*(Error|Exception)\b)|device-side assert|Assertion .* failed")
_USAGE = re.compile(r"(hub_|push_to_hub|trackio|report_to|run_name|project$|output_dir|logging_dir)")


def chosen(labels: dict) -> list[str]:
    """Every sound run, and the first run of some families with a fault; families and order are picked by a hash, not by hand."""

    def place(run: str) -> str:
        return sha256(labels[run]["source"].encode()).hexdigest()

    first = {}
    for run in sorted((r for r in labels if labels[r]["links"]), key=lambda r: labels[r]["source"]):
        first.setdefault(labels[run]["scenario"], run)
    sound = [run for run in labels if not labels[run]["links"]]
    return sorted([*sound, *sorted(first.values(), key=place)[:FAULTY]], key=place)


def spread(items: list, count: int) -> list:
    """At most ``count`` items, evenly spread, the first and the last among them."""
    if len(items) <= count:
        return items
    return [items[round(k * (len(items) - 1) / (count - 1))] for k in range(count)]


def slim_run(source: Path, target: Path, crashed: bool) -> None:
    """The kept files of one run."""
    target.mkdir(parents=True)
    state = json.loads((source / "trainer_state.json").read_text(encoding="utf-8"))
    kept = {key: value for key, value in state.items() if value not in (None, {}, []) and key != "stateful_callbacks"}
    kept["log_history"] = [{name: _short(value) for name, value in row.items()} for row in kept["log_history"]]
    (target / "trainer_state.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    options = json.loads((source / "training_args.json").read_text(encoding="utf-8"))
    plain = {key: value for key, value in options.items() if value not in (None, {}, []) and not _USAGE.match(key)}
    (target / "training_args.json").write_text(json.dumps(plain, indent=0) + "\n", encoding="utf-8")
    tables = spread(sorted((source / "completions").glob("*.parquet")), ROLLOUTS)
    (target / "completions").mkdir()
    for table in tables:
        shutil.copyfile(table, target / "completions" / table.name)
    for folder in sorted(source.glob("checkpoint-*")):
        (target / folder.name).mkdir()
        (target / folder.name / ".gitkeep").touch()
    if crashed:
        lines = (source / "train.log").read_text(encoding="utf-8", errors="replace").splitlines()
        told = [re.sub(r'(File ")[^"]*/', r"\1", line) for line in lines if _CRASH.search(line)]
        (target / "train.log").write_text("\n".join(told[:60]) + "\n", encoding="utf-8")


def _short(value: object) -> object:
    """A number with six significant digits."""
    return float(f"{value:.6g}") if isinstance(value, float) and math.isfinite(value) else value


def main() -> None:
    """Writes OUT/runs, OUT/labels.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    labels = json.loads((options.source / "labels.json").read_text(encoding="utf-8"))
    shutil.rmtree(options.out / "runs", ignore_errors=True)
    kept = {}
    for number, run in enumerate(chosen(labels), 1):
        label = labels[run]
        name = f"grpo-{number:02d}"
        slim_run(options.source / "runs" / run, options.out / "runs" / name, crashed=bool(label["crash"]))
        kept[name] = amended(label) | {"split": "smoke" if label["scenario"] in SMOKE else "dev"}
    rows = ",\n".join(f'"{name}":{json.dumps(label, separators=(",", ":"))}' for name, label in kept.items())
    (options.out / "labels.json").write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    print(f"{len(kept)} runs, {sum(not label['links'] for label in kept.values())} of them sound")


if __name__ == "__main__":
    main()
