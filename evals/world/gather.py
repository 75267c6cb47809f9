"""Takes the logs of training runs out of copies of public repositories: ``python -m evals.world.gather FOLDER PART GIT_DIRECTORY...``.

A git directory is named ``OWNER+NAME/…``. Files with the names that trainers give to logs, and such as name the metrics of a training of
language models again and again, come to ``FOLDER/PART/OWNER__NAME``, at most RUNS runs of a repository (evenly chosen), and
``FOLDER/sources.jsonl`` gets a row for each, so that ``evals.world.build`` measures it.
What stands in ``sources.jsonl`` already, byte by byte, is a copy and stays away. Nothing is checked out and nothing is run.
"""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from evals.world.build import lines

LOGS = re.compile(
    r"evaluations\.npz|(.*\.)?monitor\.csv|progress\.(csv|txt)|trainer_state\.json|trainer_log\.jsonl|.*\.tfevents.*|run-.*\.wandb|wandb-history\.jsonl"
)
"""Names that only a trainer gives."""
TRACKED = ("*evaluations.npz", "*monitor.csv", "*progress.csv", "*trainer_state.json", "*trainer_log.jsonl", "*.tfevents.*")
OWN = re.compile(
    r"((train|training|grpo|dpo|ppo|rl|reward|rewards|episode)_?)*(metrics|logs?|history|stats)(_?v?\d+)?\.(jsonl|csv|json)"
    r"|(logs?_)?(train|training|grpo|dpo|ppo|rloo|verl|rlhf)[\w.-]*\.(log|jsonl)|[\w.-]*[_-](grpo|dpo|ppo|rloo|gspo|dapo)\.log|log_history\.json"
    r"|[\w.-]*(rewards|returns|training_log|train_log)\.csv"
    r"|.*(grpo|dpo|orpo|kto|ppo|rloo|gspo|rlhf|rlvr|reinforce|dqn|sac|td3|ddpg|a2c|train|training|(?<![a-z])rl)[^a-z].*ipynb"
)
"""Names that people give to a log of their own: each is a run by itself."""
SPOKEN = (
    r"critic/(score|rewards)/mean|actor/pg_loss|env/all/reward|reward/total|optim/(kl_sample|entropy)|rewards?/[A-Za-z_]+/mean"
    r"|completions?[/_](mean_)?length|objective/(rlhf_)?rewards?|objective/kl|loss/avg_(final|raw)_rewards|reward/avg_(final|raw|pass)"
    r"|policy/(final_loss|approxkl|clipfrac)|rollout/raw_reward|rollout_info/|ppo_actor/|reward_std|frac_reward_zero_std|(mean|avg)_reward"
    r"|average reward score|act_loss|reward_mean|kl_loss|rewards/(chosen|margins|accuracies)|[\"' ]reward[\"']?[:=]"
)
"""Metrics that a training of language models writes."""
TEXTS, OFTEN = ("*.log", "*.out", "*.jsonl", "*.txt", "*.csv", "*logs.json", "*_stats.json"), 8
"""Files that are asked for them, and lines from which on such a file is a log."""
DATA = re.compile(
    r"(^|[/_.-])(data(sets?)?|prompts?|tests?|requirements|configs?|tokenizer\w*|samples|examples?|summary|predictions|evals?|rollouts|trajector\w+|generations)([/_.-]|$)",
    re.IGNORECASE,
)
"""Paths of what is trained on, of what was answered, and of what was found."""
BUILT_ON = (
    "trl|unsloth|verl|openrlhf|skyrl|skyrl_train|tinker|tinker_cookbook|nemo_rl|prime_rl|open_instruct|swift|rllm|atroposlib|areal|realhf"
    "|slime|trlx|rl4lms|art|verifiers|roll|forge|dschat|mlx_lm|nanochat|oat|lmflow|llamafactory|trinity|tunix|model.model_minimind"
)
"""What trains language models and is imported by its name; MiniMind's by that of its model."""
RUNS = 16
SMALLEST, LARGEST = 300, 30_000_000
"""Bytes of a log."""
SHA = 12
"""Digits of a log's name in git that tell it from all others here."""
LICENCES = {"MIT License": "MIT", "Apache License": "Apache-2.0", "GNU GENERAL": "GPL", "BSD": "BSD", "Mozilla": "MPL-2.0"}


def git(directory: Path, *asked: str, fine: tuple[int, ...] = (0,)) -> bytes:
    """What git prints. Raises CalledProcessError where it ends in no way that is fine."""
    done = subprocess.run(["git", f"--git-dir={directory}", *asked], capture_output=True, check=False, timeout=120)  # noqa: S603, S607
    if done.returncode not in fine:
        raise subprocess.CalledProcessError(done.returncode, asked[0])
    return done.stdout


@dataclass(frozen=True)
class Blob:
    """A log as git keeps it."""

    path: PurePosixPath
    sha: str
    size: int


def commit_with_logs(directory: Path) -> str:
    """The newest commit, or the one before the logs were taken out of it, where they were."""
    head = git(directory, "rev-parse", "HEAD").decode().strip()
    if any(logs(directory, head)):
        return head
    away = git(directory, "log", "--format=%H", "--diff-filter=D", "-1", head, "--", *TRACKED).decode().strip()
    return git(directory, "rev-parse", f"{away}^").decode().strip() if away else head


def spoken(directory: Path, commit: str) -> set[str]:
    """The texts of a commit that name metrics of a training of language models in many lines; a copy may lack its largest files (128)."""
    asked = ("grep", "-c", "-I", "-z", "-E", SPOKEN, commit, "--", *TEXTS)
    found = (line.partition("\0") for line in git(directory, *asked, fine=(0, 1, 128)).decode(errors="replace").splitlines())
    return {path.partition(":")[2] for path, _, count in found if int(count or 0) >= OFTEN and not DATA.search(path)}


def logs(directory: Path, commit: str) -> Iterator[Blob]:
    """The logs of a commit."""
    named = spoken(directory, commit)
    for line in git(directory, "ls-tree", "-r", "-l", "-z", commit).decode(errors="replace").split("\0"):
        facts, _, path = line.partition("\t")
        if path and (LOGS.fullmatch((at := PurePosixPath(path)).name) or OWN.fullmatch(at.name.lower()) or path in named):
            _, _, sha, size = facts.split()
            if size.isdigit() and SMALLEST <= int(size) <= LARGEST:
                yield Blob(at, sha, int(size))


def home(log: Blob) -> PurePosixPath:
    """Where the run of a log stands: the log itself, or the folder of a run that its trainer made."""
    at = log.path
    if not LOGS.fullmatch(at.name):
        return at
    return at.parent.parent if at.parent.name.startswith("checkpoint-") else at.parent


def runs(directory: Path, commit: str) -> dict[str, list[Blob]]:
    """The runs, each by where it stands, and its logs: of several of a kind (checkpoints, restarts) the largest."""
    found: dict[PurePosixPath, dict[str, Blob]] = defaultdict(dict)
    for log in sorted(logs(directory, commit), key=lambda b: b.size):
        found[home(log)][log.path.suffix if ".tfevents." not in log.path.name else "tfevents"] = log
    for at in sorted(found, key=lambda p: len(p.parts)):
        inside = [p for p in found if at in p.parents]
        if len(inside) == 1:
            found[at] |= found.pop(inside[0])
    chosen = np.linspace(0, len(found) - 1, min(RUNS, len(found))).astype(int)
    return {str(name): list(found[name].values()) for name in (sorted(found)[i] for i in chosen)}


def licence(directory: Path) -> str | None:
    """The licence by the first lines of its file."""
    names = git(directory, "ls-tree", "--name-only", "HEAD").decode(errors="replace").splitlines()
    for name in (n for n in names if n.upper().startswith(("LICENSE", "LICENCE", "COPYING"))):
        text = git(directory, "show", f"HEAD:{name}")[:400].decode(errors="replace")
        return next((short for words, short in LICENCES.items() if words in text), "other")
    return None


def built_on(directory: Path) -> str | None:
    """The library for training language models that most files of the repository import."""
    asked = ("grep", "-h", "-o", "-I", "-E", rf'^ *"?(import|from) +({BUILT_ON})\b', "HEAD", "--", "*.py", "*.ipynb")
    named = Counter(line.split()[-1] for line in git(directory, *asked, fine=(0, 1, 128)).decode(errors="replace").splitlines())
    return named.most_common(1)[0][0].removeprefix("model.model_") if named else None


def owner_of(directory: Path) -> str:
    """OWNER__NAME of the repository that a directory is a copy of."""
    return next(p for p in directory.parts if "+" in p).replace("+", "__", 1)


def git_of(directory: Path) -> Path:
    """Where git keeps a copy, bare or not."""
    return directory / ".git" if (directory / ".git").is_dir() else directory


def taken(folder: Path, part: str, directory: Path, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Writes the logs of a repository below the folder and gives a row a run; ``seen`` are the logs that are there already."""
    owner = owner_of(directory)
    commit, told, base = commit_with_logs(directory), licence(directory), built_on(directory)
    for run, found in runs(directory, commit).items():
        largest = max(found, key=lambda b: b.size).sha[:SHA]
        if largest in seen:
            continue
        seen.add(largest)
        for log in found:
            at = (folder / part / owner / log.path).resolve()
            if at.is_relative_to((folder / part / owner).resolve()):
                at.parent.mkdir(parents=True, exist_ok=True)
                at.write_bytes(git(directory, "cat-file", "blob", log.sha))
        yield {
            "path": f"{part}/{owner}" if run == "." else f"{part}/{owner}/{run}",
            "commit": commit,
            "licence": told,
            "built_on": base,
            "log": largest,
        }


def main(folder: Path, part: str, directories: list[Path]) -> None:
    """Takes all and says how many runs each repository has."""
    seen = {str(row.get("log")) for row in lines(folder / "sources.jsonl")}
    with (folder / "sources.jsonl").open("a", encoding="utf-8") as out:
        for directory in directories:
            rows = list(taken(folder, part, git_of(directory), seen))
            out.writelines(json.dumps(row) + "\n" for row in rows)
            print(f"{len(rows):3} {directory}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]])
