"""A run as a stranger would have logged it: a library's or a script's own names, cadence and files, and what is missing, cut or doubled.

``view`` chooses what of a trained run is logged, and how; ``written`` makes the files of it. Only here is anything hidden or made worse:
the numbers are those of the training.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from evals.proving_ground.plans import OF_TOKENS

Floats = npt.NDArray[np.float64]
Row = dict[str, float]
BARE = 0.2
"""How likely a log holds next to nothing but the reward."""
RARE, RARELY = ("kl", "sampling", "approx", "lr", "learning_rate"), 0.5
"""What is logged less often than a library could."""
SOME_EVALUATIONS = (5, 10, 20, 40)
REWARDS = ("reward/mean", "reward/fresh", "reward/one")
"""What no run fails to log."""


@dataclass(frozen=True)
class Convention:
    """How one library or script logs: its name for each of our metrics, how often it logs each one, and its file."""

    name: str
    kind: str
    weight: float
    names: Mapping[str, str]
    """Ours -> theirs; of a ``*`` entry the rest of our name takes the place of the star."""
    step: str
    """What the step is called; a convention whose steps count environment steps says so in ``per_step``."""
    write: Callable[["View"], dict[str, str]]
    always: tuple[str, ...] = ()
    """Theirs that are never missing; the others are, more or less often."""
    keeps: float = 0.9
    """How likely each of the others is logged."""
    evaluates: float = 0.3
    per_step: bool = False
    minus: tuple[str, ...] = ()
    """Theirs with the other sign."""


@dataclass(frozen=True)
class View:
    """What is logged of one run: rows in order, each with its step, and the evaluations among them."""

    convention: Convention
    rows: list[tuple[int, Row]]
    evaluations: list[tuple[int, Row]]
    planned: int
    settings: dict[str, Any]
    tells_plan: bool


def view(
    rng: np.random.Generator, own: np.random.Generator, spec: dict[str, Any], names: list[str], metrics: Floats, seen: dict[str, Floats]
) -> View:
    """The run through the eyes of one convention; ``seen`` has moments, score and length of the evaluations, whose luck is the run's ``own``."""
    c = chosen(rng, spec)
    c = replace(c, step=str(rng.choice(c.step.split("|"))))
    per = int(np.prod(spec["shape"])) if c.per_step else 1
    bare = rng.random() < BARE
    words = {o: w for o, w in translated(c, names, rng).items() if o in REWARDS or kept(rng, c, w, bare=bare)}
    raw = {w: metrics[:, names.index(o)] * (-1 if w in c.minus else 1) for o, w in words.items()}
    steps = np.arange(1, metrics.shape[0] + 1)
    every = int(rng.choice([1, 1, 1, 2, 5, 10])) if metrics.shape[0] > 100 else 1
    means = every > 1 and rng.random() < 0.5
    raw = {n: windowed(v, every) if means or not np.isfinite(v).all() else v for n, v in raw.items()}
    if c.name.startswith("script") and rng.random() < 0.25:
        raw = {n: trailing(v, int(rng.choice([5, 10, 20]))) if "rew" in n or "ret" in n else v for n, v in raw.items()}
    rows = [(int(s) * per, {n: float(v[s - 1]) for n, v in raw.items()}) for s in steps[every - 1 :: every]]
    rows = [(s, {n: v for n, v in r.items() if np.isfinite(v) or rng.random() < 0.5}) for s, r in disturbed(rng, rows)]
    return View(c, rows, evaluated(rng, own, c, spec, seen, per), spec["steps"] * per, settings(rng, spec, c), bool(rng.random() < 0.5))


def kept(rng: np.random.Generator, c: Convention, word: str, *, bare: bool) -> bool:
    """Whether a run logs it: what is always logged, and of the rest more or less; nothing else in a bare log."""
    return word in c.always or (not bare and rng.random() < c.keeps * (RARELY if any(r in word for r in RARE) else 1))


def chosen(rng: np.random.Generator, spec: dict[str, Any]) -> Convention:
    """A convention for this kind of run, common ones more often."""
    kind = "language" if spec["learner"] in OF_TOKENS else "control"
    fit = [c for c in CONVENTIONS if c.kind == kind]
    weight = np.array([c.weight for c in fit])
    return fit[rng.choice(len(fit), p=weight / weight.sum())]


def translated(c: Convention, names: list[str], rng: np.random.Generator) -> dict[str, str]:
    """Our names that the convention has a word for, and that word; of several words one."""
    found = {}
    for ours in names:
        stem = ours.rpartition("/")[0] + "/*"
        words = c.names.get(ours) or (c.names[stem].replace("*", ours.rpartition("/")[2]) if stem in c.names else "")
        if words:
            found[ours] = str(rng.choice(words.split("|")))
    return found


def windowed(value: Floats, every: int) -> Floats:
    """At every step the mean since the last one that is logged."""
    parts = [value[max(0, i + 1 - every) : i + 1] for i in range(value.size)]
    return np.array([part[np.isfinite(part)].mean() if np.isfinite(part).any() else np.nan for part in parts])


def trailing(value: Floats, width: int) -> Floats:
    """The mean of the last so many values."""
    return np.array([np.nanmean(value[max(0, i + 1 - width) : i + 1]) if np.isfinite(value[i]) else np.nan for i in range(value.size)])


def disturbed(rng: np.random.Generator, rows: list[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """At times rows are lost, or some are there twice after a restart; a run that is no number any more ends soon."""
    number = [all(np.isfinite(v) for n, v in r.items() if "loss" in n) for _, r in rows]
    bad = [i for i, fine in enumerate(number) if i and not fine and number[i - 1]]
    if bad and rng.random() < 0.8:
        rows = rows[: bad[0] + int(rng.integers(1, 6))]
    if rng.random() < 0.08 and len(rows) > 30:
        rows = [r for r in rows if rng.random() > 0.15]
    if rng.random() < 0.04 and len(rows) > 40:
        at = int(rng.integers(20, len(rows) - 10))
        rows = rows[:at] + rows[at - int(rng.integers(2, 10)) : at] + rows[at:]
    return rows


def evaluated(
    rng: np.random.Generator, own: np.random.Generator, c: Convention, spec: dict[str, Any], seen: dict[str, Floats], per: int
) -> list[tuple[int, Row]]:
    """Held-out scores at their own cadence, of as many samples as people take; none where the run does not evaluate."""
    if rng.random() >= c.evaluates:
        return []
    count = min(int(rng.choice(SOME_EVALUATIONS)), seen["at"].size - 1)
    picked = np.unique(np.linspace(0 if rng.random() < 0.4 else 1, seen["at"].size - 1, count).round().astype(int))
    name = str(rng.choice(c.names["eval/score"].split("|")))
    few = int(rng.choice([16, 32, 64, 200]))
    rows = []
    for i in picked:
        score = float(seen["score"][i])
        if spec["learner"] in OF_TOKENS and few < 64 and np.isfinite(score):
            score = float(own.binomial(few, np.clip(score, 0, 1))) / few
        row = {name: score} | ({c.names["eval/length"]: float(seen["length"][i])} if "eval/length" in c.names else {})
        rows.append((int(seen["at"][i]) * per, row))
    return rows


def settings(rng: np.random.Generator, spec: dict[str, Any], c: Convention) -> dict[str, Any]:
    """What a configuration would say; a script often leaves none."""
    if c.name.startswith("script") and rng.random() < 0.6:
        return {}
    rate = spec["base"]["lr"]
    return {"learning_rate": rate if isinstance(rate, float) else rate[0][1] or rate[1][1]}


def merged(v: View) -> list[tuple[int, Row]]:
    """Rows and evaluations in one sequence; an evaluation joins the row of its step."""
    by_step = dict(v.evaluations)
    last = v.rows[-1][0] if v.rows else 0
    rows = [(s, row | by_step.pop(s, {})) for s, row in v.rows]
    return sorted(rows + [(s, r) for s, r in by_step.items() if s <= last], key=lambda one: one[0]) if by_step else rows


def short(value: float) -> float:
    """Six significant digits, as loggers print."""
    return float(f"{value:.6g}")


def as_csv(v: View, file: str) -> dict[str, str]:
    """One table; the columns in order of first appearance."""
    rows = merged(v)
    columns = list(dict.fromkeys([v.convention.step, *(n for _, r in rows for n in r)]))
    out = io.StringIO()
    table = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    table.writeheader()
    for s, r in rows:
        table.writerow({v.convention.step: s} | {n: short(x) for n, x in r.items()})
    return {file: out.getvalue()}


def as_jsonl(v: View, file: str) -> dict[str, str]:
    """One object a line."""
    return {file: "".join(json.dumps({v.convention.step: s} | {n: short(x) for n, x in r.items()}) + "\n" for s, r in merged(v))}


def as_trainer_state(v: View) -> dict[str, str]:
    """What transformers' trainer leaves in a checkpoint."""
    history = [{n: short(x) for n, x in r.items()} | {"step": s} for s, r in v.rows]
    last = v.rows[-1][0] if v.rows else 0
    history += [{n: short(x) for n, x in r.items()} | {"step": s} for s, r in v.evaluations if 0 < s <= last]
    history.sort(key=lambda r: r["step"])
    state = {"global_step": last, "log_history": history, "max_steps": v.planned, "logging_steps": 1}
    return {"trainer_state.json": json.dumps(state)}


def as_verl(v: View) -> dict[str, str]:
    """Console lines of verl."""
    lines = [f"step:{s} - " + " - ".join(f"{n}:{x:.3f}" if abs(x) > 0.01 else f"{n}:{x:.6g}" for n, x in r.items()) for s, r in merged(v)]
    return {"train.log": "\n".join(["INFO starting", *lines]) + "\n"}


def as_lines(v: View) -> dict[str, str]:
    """What a script prints: a line a step, a few numbers, three digits."""
    rows = [f"Step {s}/{v.planned} | " + " | ".join(f"{n}: {x:.3f}" for n, x in r.items()) for s, r in v.rows]
    return {"train.log": "\n".join(["loading", *rows]) + "\n"}


def as_sb3(v: View) -> dict[str, str]:
    """progress.csv and, where it evaluates, the same numbers among its columns."""
    return as_csv(v, "progress.csv")


def as_columns(v: View) -> dict[str, str]:
    """A JSON of lists, as scripts dump for a plot."""
    names = list(dict.fromkeys(n for _, r in v.rows for n in r))
    table: dict[str, list[Any]] = {v.convention.step: [s for s, _ in v.rows]}
    table |= {n: [short(r.get(n, float("nan"))) if np.isfinite(r.get(n, float("nan"))) else None for _, r in v.rows] for n in names}
    return {"history.json": json.dumps(table)}


TRL = {
    "reward/mean": "reward", "reward/std": "reward_std", "reward/flat_groups": "frac_reward_zero_std", "policy/loss": "loss",
    "policy/grad_norm": "grad_norm", "policy/learning_rate": "learning_rate", "kl/ref": "kl", "entropy/mean": "entropy",
    "ratio/clip_fraction": "clip_ratio/region_mean", "response/length": "completions/mean_length", "response/truncated": "completions/clipped_ratio",
    "response/length_min": "completions/min_length", "response/length_max": "completions/max_length", "progress/epoch": "epoch",
    "response/finished_length": "completions/mean_terminated_length", "reward/component/*": "rewards/*_reward/mean",
    "mismatch/logprob": "sampling/sampling_logp_difference/mean", "eval/score": "eval_reward|eval_accuracy",
}  # fmt: skip
VERL = {
    "reward/mean": "critic/score/mean", "reward/max": "critic/score/max", "reward/min": "critic/score/min", "entropy/mean": "actor/entropy",
    "policy/loss": "actor/pg_loss", "kl/old": "actor/ppo_kl", "ratio/clip_fraction": "actor/pg_clipfrac", "kl/ref": "actor/kl_loss",
    "policy/grad_norm": "actor/grad_norm", "policy/learning_rate": "actor/lr", "response/length": "response_length/mean",
    "response/length_max": "response_length/max", "response/length_min": "response_length/min", "response/truncated": "response_length/clip_ratio",
    "advantage/mean": "critic/advantages/mean", "advantage/max": "critic/advantages/max", "advantage/min": "critic/advantages/min",
    "value/loss": "critic/vf_loss", "value/mean": "critic/values/mean", "value/explained_variance": "critic/vf_explained_var",
    "episode/turns": "num_turns/mean", "progress/epoch": "training/epoch", "eval/score": "val-core/task/acc/mean@1",
}  # fmt: skip
HOME = {
    "reward/mean": "reward|mean_reward|reward_mean|avg_reward", "policy/loss": "loss|policy_loss", "policy/grad_norm": "grad_norm",
    "policy/learning_rate": "lr|learning_rate", "response/length": "mean_length|response_length", "reward/std": "reward_std", "kl/ref": "kl",
    "entropy/mean": "entropy", "value/loss": "critic_loss|value_loss|vf_loss", "reward/component/correctness": "accuracy|correct_rate", "eval/score": "eval_accuracy|val_acc|test_accuracy",
}  # fmt: skip
SB3 = {
    "reward/mean": "rollout/ep_rew_mean", "episode/length": "rollout/ep_len_mean", "kl/old": "train/approx_kl", "value/loss": "train/value_loss",
    "ratio/clip_fraction": "train/clip_fraction", "ratio/clip_range": "train/clip_range", "entropy/mean": "train/entropy_loss",
    "policy/loss": "train/policy_gradient_loss", "value/explained_variance": "train/explained_variance", "exploration/rate": "rollout/exploration_rate",
    "policy/learning_rate": "train/learning_rate", "entropy/coef": "train/ent_coef", "eval/score": "eval/mean_reward", "eval/length": "eval/mean_ep_length",
}  # fmt: skip
CLEANRL = {
    "reward/one": "charts/episodic_return", "policy/learning_rate": "charts/learning_rate", "value/loss": "losses/value_loss",
    "policy/loss": "losses/policy_loss", "entropy/mean": "losses/entropy", "kl/old": "losses/approx_kl", "ratio/clip_fraction": "losses/clipfrac",
    "value/explained_variance": "losses/explained_variance", "value/mean": "losses/q_values", "eval/score": "eval/episodic_return",
}  # fmt: skip
_LEARNER = "info/learner/default_policy/learner_stats"
RLLIB = {
    "reward/fresh": "episode_reward_mean", "episode/length": "episode_len_mean", "policy/loss": f"{_LEARNER}/policy_loss",
    "value/loss": f"{_LEARNER}/vf_loss", "value/explained_variance": f"{_LEARNER}/vf_explained_var", "entropy/mean": f"{_LEARNER}/entropy",
    "kl/old": f"{_LEARNER}/kl", "policy/learning_rate": f"{_LEARNER}/cur_lr", "policy/grad_norm": f"{_LEARNER}/grad_gnorm",
    "eval/score": "evaluation/episode_reward_mean",
}  # fmt: skip
HOME_GAMES = {
    "reward/fresh": "reward|episode_reward|mean_reward|avg_return|return", "policy/loss": "loss|actor_loss", "value/loss": "critic_loss|value_loss",
    "entropy/mean": "entropy", "episode/length": "episode_length|steps", "exploration/rate": "epsilon", "eval/score": "eval_return|eval_reward",
}  # fmt: skip
CONVENTIONS = (
    Convention("trl", "language", 3, TRL, "step", as_trainer_state, ("reward", "loss", "learning_rate", "epoch"), 0.85, 0.25),
    Convention("verl", "language", 2.5, VERL, "step", as_verl, ("critic/score/mean", "actor/pg_loss"), 0.92, 0.6),
    Convention("script table", "language", 1.5, HOME, "step", lambda v: as_csv(v, "metrics.csv"), (), 0.4, 0.3),
    Convention("script lines", "language", 1.5, HOME, "step", as_lines, (), 0.35, 0.0),
    Convention("script objects", "language", 2, HOME, "step", lambda v: as_jsonl(v, "metrics.jsonl"), (), 0.45, 0.3),
    Convention("sb3", "control", 3, SB3, "time/total_timesteps", as_sb3, ("rollout/ep_rew_mean", "rollout/ep_len_mean"), 0.9, 0.45, per_step=True, minus=("train/entropy_loss",)),
    Convention("cleanrl", "control", 1.5, CLEANRL, "global_step", lambda v: as_csv(v, "history.csv"), ("charts/episodic_return",), 0.9, 0.1, per_step=True),
    Convention("rllib", "control", 1.5, RLLIB, "training_iteration", lambda v: as_csv(v, "progress.csv"), ("episode_reward_mean",), 0.85, 0.2),
    Convention("script table of games", "control", 2, HOME_GAMES, "episode|iteration", lambda v: as_csv(v, "log.csv"), (), 0.35, 0.3),
    Convention("script lists of games", "control", 1.5, HOME_GAMES, "step", as_columns, (), 0.35, 0.0),
)  # fmt: skip


def written(v: View) -> dict[str, str]:
    """The files of a run, by name."""
    files = v.convention.write(v)
    if v.settings and v.tells_plan and v.convention.name != "trl":
        plan = {"total_timesteps": v.planned} if v.convention.kind == "control" else {"max_steps": v.planned}
        files["config.json"] = json.dumps(v.settings | plan)
    return files
