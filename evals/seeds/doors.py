"""Situations that other verbs answer: what is on record, the samples, an audit, a batch, episodes before training, memory, a pair of runs.

Each is asked twice a drawing: as the seed says it, and as a near-miss that differs in that one thing. Right is an answer whose values say
so where the near-miss's do not.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from evals.seeds.answered import run as sampled
from evals.seeds.course_of_runs import but, language
from evals.seeds.drawing import Floats, Made, Talk, said, share, way
from evals.seeds.frames import written
from rl_advisor.answers.compare import compare
from rl_advisor.answers.context import context
from rl_advisor.answers.critic import critic_test
from rl_advisor.answers.curves import summaries
from rl_advisor.answers.engine_consistency import consistency
from rl_advisor.answers.preflight import before
from rl_advisor.answers.probe import probe
from rl_advisor.api import assess
from rl_advisor.gpu.memory import Setup, estimate, shape_of
from rl_advisor.reading import read_run
from rl_advisor.run import Run
from rl_advisor.samples.sample_audit import sample_audit
from rl_advisor.samples.spotcheck import triad
from rl_advisor.settings.protocol import protocol

FRAMEWORKS = ("trl", "verl")
KL_RESTS, KL_DRIFTS = way(0.01, 0.05, 0.05, 0.05, sd=0.003, low=0.0), way(0.01, 0.3, 0.8, 1.5, sd=0.02, low=0.0)


@dataclass(frozen=True)
class Drawing:
    """One drawing: in whose form, where its files go, and chance; ``near`` asks for the near-miss."""

    form: str
    folder: Path
    rng: np.random.Generator
    near: bool

    def run(self, made: Made, name: str = "run", steps: int = 60) -> Run:
        """A made run as its framework leaves it, read."""
        return read_run(written(made, self.form, steps, self.rng, self.folder / name))


@dataclass(frozen=True)
class Asked:
    """A situation of another verb: how it is made and asked, the values by which its answer is right, and the rows it stands for."""

    name: str
    ask: Callable[[Drawing], Any]
    right: Callable[[Any], bool]
    rows: tuple[str, ...]
    frameworks: tuple[str, ...] = FRAMEWORKS


def recorded(without: str) -> Callable[[Drawing], set[str]]:
    """What ``load`` finds on record of a run; of the near-miss one thing was never written down."""

    def ask(d: Drawing) -> set[str]:
        plain = but(language({"accuracy": share(0.3, 0.5, sd=0.01)}, reward__mean=share(0.3, 0.6, sd=0.02)))
        made = but(plain, settings={k: v for k, v in plain.settings.items() if k != "seed" or not d.near or without != "seed"})
        folder = written(made, d.form, 60, d.rng, d.folder / "run")
        (folder / "git_commit.txt").write_text(f"{d.rng.integers(1 << 40):040x}\n")
        (folder / "run_eval.sh").write_text("python evaluate.py --split test\n")
        gone = {
            "configuration": ("training_args.json", "config.yaml", "run_eval.sh"),
            "code version": ("git_commit.txt",),
            "evaluation command": ("run_eval.sh",),
            "checkpoints": [p.name for p in folder.iterdir() if p.is_dir()],
        }
        for name in gone.get(without, ()) if d.near else ():
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        return {what for part in context(read_run(folder)).values() for what in part["there"]}

    return ask


def quarter(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """A quarter of the late answers says one thing over and over, at many times the length, and is paid best; people think little of it."""
    if t.done > 0.5 and t.prompt % 4 == 0:
        return " ".join([said(t, 1)] * 9), 1.0, {"human_score": 0.1}
    return said(t, 2), float(0.3 + 0.2 * t.rng.random()), {"human_score": float(0.6 + 0.2 * t.rng.random())}


def even(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """Answers of one length, paid and judged alike."""
    paid = float(t.rng.random())
    return said(t, 2), paid, {"human_score": paid}


def ordered(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """The reward orders the answers to a prompt as people do, but for a little."""
    paid = float(t.rng.random())
    return said(t, 2), paid, {"human_score": paid + 0.1 * float(t.rng.normal())}


def lottery(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """The reward has nothing to do with what people say."""
    return said(t, 2), float(t.rng.random()), {"human_score": float(t.rng.random())}


def kin(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """The judge pays its own family a fifth more."""
    own = float(t.rng.random() < 0.5)
    return said(t, 2), float(0.4 + 0.2 * own + 0.05 * t.rng.normal()), {"same_family": own}


def impartial(t: Talk) -> tuple[str, float, Mapping[str, float]]:
    """The judge knows no family."""
    return said(t, 2), float(0.5 + 0.1 * t.rng.normal()), {"same_family": float(t.rng.random() < 0.5)}


def audited(write: object, near: object) -> Callable[[Drawing], dict[str, Any]]:
    """The audit of a run's samples."""
    return lambda d: sample_audit(d.run(sampled(near if d.near else write)), most=10)


def picked(d: Drawing) -> dict[str, Any]:
    """The samples to read, with the ends of all rewards and the last step; of the near-miss the samples without reward, in reverse."""
    run = d.run(sampled(even))
    rows = run.rollouts
    shown = triad(Run(rollouts=rows.assign(reward=np.nan, step=rows["step"].min())) if d.near else run, count=3)
    ends = {"low": float(rows["reward"].quantile(0.02)), "high": float(rows["reward"].quantile(0.98)), "last": float(rows["step"].max())}
    return {**shown, **ends}


def batch(d: Drawing) -> dict[str, Any]:
    """A saved batch whose returns the observations tell, and a critic that did not learn them; of the near-miss one that did."""
    seen = d.rng.normal(size=(600, 5))
    returns = np.sin(seen[:, 0]) + 0.5 * seen[:, 1] + 0.2 * d.rng.normal(size=600)
    values = returns + 0.2 * d.rng.normal(size=600) if d.near else d.rng.normal(size=600)
    path = d.folder / f"batch.{d.form}"
    d.folder.mkdir(parents=True)
    if d.form == "npz":
        np.savez(path, observations=seen, returns=returns, values=values)
    else:
        rows = zip(seen.tolist(), returns.tolist(), values.tolist(), strict=True)
        path.write_text("\n".join(json.dumps({"observation": o, "return": r, "value": v}) for o, r, v in rows))
    return critic_test(path)


def episodes(d: Drawing, name: str, values: Floats) -> Path:
    """Returns of episodes as a monitor's table or as lines."""
    d.folder.mkdir(parents=True, exist_ok=True)
    path = d.folder / f"{name}.{d.form}"
    if d.form == "csv":
        path.write_text("r,l,t\n" + "".join(f"{v},{20 + i % 7},{i}\n" for i, v in enumerate(values.tolist())))
    else:
        path.write_text("".join(json.dumps({"episode_return": v}) + "\n" for v in values.tolist()))
    return path


def policies(gain: float, near: float) -> Callable[[Drawing], dict[str, Any]]:
    """A hundred episodes by chance and a hundred by a script that earns so many spreads more."""

    def ask(d: Drawing) -> dict[str, Any]:
        chance, rule = d.rng.normal(0, 1, 100), d.rng.normal(near if d.near else gain, 1, 100)
        return before(random=episodes(d, "random", chance), scripted=episodes(d, "scripted", rule))

    return ask


def hardly_paid(d: Drawing) -> dict[str, Any]:
    """Rewards of which one in fifty is anything; of the near-miss two in five."""
    paid = (d.rng.random(300) < (0.4 if d.near else 0.015)).astype(float)
    return before(rewards=episodes(d, "rewards", paid))


def planned(d: Drawing) -> set[str]:
    """What a plan does not say; of the near-miss nothing."""
    d.folder.mkdir(parents=True)
    settings = {"seed": 3, "total_timesteps": 1000, "env_id": "CartPole-v1", "learning_rate": 3e-4, "algo": "ppo"}
    text = json.dumps(settings) if d.form == "json" else "".join(f"{k}: {v}\n" for k, v in settings.items())
    (d.folder / f"config.{d.form}").write_text(text)
    if d.near:
        (d.folder / "run_eval.sh").write_text("python evaluate.py\n")
    return set(before(d.folder)["context"]["missing"])


MODELS: Mapping[str, Mapping[str, Any]] = {
    "8b": {"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 128256, "num_attention_heads": 32, "num_key_value_heads": 8, "tie_word_embeddings": False},
    "0.5b": {"hidden_size": 896, "num_hidden_layers": 24, "intermediate_size": 4864, "vocab_size": 151936, "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": True},
}  # fmt: skip


def memory(near: Mapping[str, Any], **setup: Any) -> Callable[[Drawing], dict[str, float]]:
    """Each part of a GPU's memory with these choices, over what it is without any."""

    def ask(d: Drawing) -> dict[str, float]:
        common = {"tokens": int(d.rng.integers(512, 4096)), "gpus": 8, "sampled_at_once": 8, "recompute": False}
        plain, found = (estimate(shape_of(MODELS[d.form]), Setup(**{**common, **own}))["gib"] for own in ({}, near if d.near else setup))
        return {name: found.get(name, 0.0) / size for name, size in plain.items()} | {f"has {name}": size for name, size in found.items()}

    return ask


def fits(d: Drawing) -> dict[str, Any]:
    """Whether a model fits into what is there; the near-miss has fifty times that."""
    d.folder.mkdir(parents=True)
    (d.folder / "config.json").write_text(json.dumps(MODELS[d.form]))
    there = (2.0 if d.form == "0.5b" else 24.0) * (50 if d.near else 1)
    return before(model=d.folder / "config.json", gib=there)


def probed(d: Drawing) -> dict[str, Any]:
    """A probe on the test set that rises beside training that does not; of the near-miss neither does."""
    level, rise = (language(reward__mean=share(*way, sd=0.02)) for way in ((0.2,), (0.2, 0.5, 0.75)))
    return probe(d.run(level if d.near else rise, "test"), d.run(level, "train"))


KEYS = {"trl": "eval_temperature", "verl": "actor_rollout_ref.rollout.val_kwargs.temperature"}


def evaluated(d: Drawing) -> dict[str, Any]:
    """Two runs, the second evaluated at another temperature; of the near-miss at the same."""
    made = [
        language({"accuracy": share(0.3, top, sd=0.01)}, reward__mean=share(0.3, 0.6, sd=0.02), settings={KEYS[d.form]: warm})
        for top, warm in ((0.5, 0.6), (0.7, 0.6 if d.near else 0.0))
    ]
    return compare([d.run(m, f"run-{i}") for i, m in enumerate(made)])


def protocol_of(d: Drawing) -> dict[str, Any]:
    """What is known of a run's evaluation; of the near-miss no temperature is written down."""
    made = language({"accuracy": share(0.3, 0.5, sd=0.01)}, settings={} if d.near else {KEYS[d.form]: 0.6})
    return protocol(d.run(made))


def engines(widths: Callable[[int], float], near: Callable[[int], float]) -> Callable[[Drawing], dict[str, Any]]:
    """Two engines' dumps of the same responses over twelve steps, their log-probabilities so far apart."""

    def ask(d: Drawing) -> dict[str, Any]:
        for side, width in (("trainer", near if d.near else widths), ("engine", lambda _: 0.0)):
            drawn, own = np.random.default_rng(d.rng.integers(1 << 30) if side == "trainer" else 1), d.folder / side / "rollout_data"
            own.mkdir(parents=True)
            true = np.random.default_rng(len(d.folder.name)).exponential(1, size=(12, 24, 16))
            for step in range(12):
                logs = -true[step] + width(step) * drawn.normal(size=(24, 16))
                rows = (
                    {"input": f"question {i}", "output": "word " * 15 + str(i), "score": 1.0, "step": step + 1, d.form: logs[i].tolist()}
                    for i in range(24)
                )
                (own / f"{step + 1}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return consistency(d.folder / "trainer", d.folder / "engine")

    return ask


def paced(way: tuple[float, ...]) -> Callable[[Drawing], str]:
    """What ``curves`` says of the pace of the reward; the near-miss is a straight line."""

    def ask(d: Drawing) -> str:
        run = d.run(language(reward__mean=share(*((0.2, 0.35, 0.5, 0.65, 0.8) if d.near else way), sd=0.012)), steps=160)
        told = summaries(run, metrics=["reward/mean"])["metrics"][0]
        return str(told.get("rate", {}).get("pace"))

    return ask


def drifting(d: Drawing) -> float:
    """What is left of the odds of going on when the same run, at rest, drifts from its reference; of the near-miss neither drifts."""
    seed, odds = int(d.rng.integers(2**32)), []
    for name, kl in (("rests", KL_RESTS), ("drifts", KL_RESTS if d.near else KL_DRIFTS)):
        made = but(language(reward__mean=share(0.3, 0.55, 0.6, 0.6, 0.6, sd=0.015), kl__ref=kl), plan=1.6)
        odds.append(assess(replace(d, rng=np.random.default_rng(seed)).run(made, name, steps=280)).p_continue_pays)
    return odds[1] / odds[0]


def often(reason: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a reason surely holds of more than a few audited samples."""
    return lambda a: a["reasons"].get(reason, {"low": 0.0})["low"] > 0.03


FILES, SIZES, DUMPS = ("csv", "jsonl"), ("8b", "0.5b"), ("logprobs", "response_logprobs")
SITUATIONS = (
    *(Asked(f"d_record_{what.split()[0]}", recorded(what), lambda a, what=what: what in a, (f"002 context {what}",)) for what in ("configuration", "seed", "code version", "checkpoints", "evaluation command")),
    Asked("d_best_paid", picked, lambda a: len(a["highest"]) == 3 and all(s["reward"] >= a["high"] for s in a["highest"]), ("002 samples best",)),
    Asked("d_worst_paid", picked, lambda a: len(a["lowest"]) == 3 and all(s["reward"] <= a["low"] for s in a["lowest"]), ("002 samples worst",)),
    Asked("d_random", picked, lambda a: len(a["random"]) == 3 and all(s["step"] == a["last"] for s in a["random"]), ("002 samples random",)),
    Asked("d_critic_batch", batch, lambda a: a["critic"]["explained_variance"] < 0.2 and a["regressor"]["explained_variance"] > 0.4, ("002 critic test",), ("npz", "jsonl")),
    Asked("d_group_ranking", audited(ordered, lottery), lambda a: a["ranking"]["human_score"]["low"] > 0.75, ("002 minimal ranking",)),
    Asked("d_audit_judged_low", audited(quarter, even), often("paid highly, human_score low"), ("002 hack audit judged",)),
    Asked("d_audit_long", audited(quarter, even), often("longer than 2 times the first answers"), ("002 hack audit length",)),
    Asked("d_audit_repeats", audited(quarter, even), often("repeats itself"), ("002 hack audit repeats",)),
    Asked("d_audit_ids", audited(quarter, even), lambda a: len(a["suspicious"]) == 10 and all(s["reward"] == 1 and s["source"] for s in a["suspicious"]), ("002 hack audit ids", "002 after samples")),
    Asked("d_judge_kin", audited(kin, impartial), lambda a: a["judge"]["own family"]["low"] > 0.1, ("002 pitfall judge",)),
    Asked("d_script_wins", policies(2.5, 0.0), lambda a: a["episodes"]["tells_apart"] is True and a["episodes"]["random"] == a["episodes"]["scripted"] == 100, ("002 env test",), FILES),
    Asked("d_script_loses", policies(0.0, 2.5), lambda a: a["ready"] is False and a["episodes"]["tells_apart"] is False, ("002 env no win",), FILES),
    Asked("d_script_hardly_wins", policies(0.45, 2.0), lambda a: a["ready"] is False and a["episodes"]["tells_apart"] is False, ("002 env no win",), FILES),
    Asked("d_signs", policies(-2.5, 0.0), lambda a: a["episodes"]["share_better"]["high"] < 0.4 and a["episodes"]["tells_apart"] is False, ("002 reward dist signs",), FILES),
    Asked("d_hardly_paid", hardly_paid, lambda a: a["histogram"]["shape"] == "almost_all_low" and a["histogram"]["alarm"], ("002 reward dist histogram",), FILES),
    Asked("d_plan", planned, lambda a: "evaluation command" in a, ("002 before evaluation",), ("json", "yaml")),
    Asked("d_too_large", fits, lambda a: a["ready"] is False and a["memory"]["total_gib"] > a["memory"]["gib_there"], ("002 before memory",), SIZES),
    Asked("d_four_models", memory({"reference": False}, critic=True), lambda a: all(a.get(f"has {m}", 0) > 0 for m in ("weights", "reference", "critic", "kv_cache")), ("002 memory",), SIZES),
    Asked("d_weights", memory({"stage": 2}, stage=3), lambda a: a["weights"] < 0.2, ("002 memory tab weights",), SIZES),
    Asked("d_optimiser", memory({"stage": 0}, stage=1), lambda a: a["optimizer"] < 0.2, ("002 memory tab optimiser",), SIZES),
    Asked("d_gradients", memory({"stage": 1}, stage=2), lambda a: a["gradients"] < 0.2, ("002 memory tab gradients",), SIZES),
    Asked("d_activations", memory({}, recompute=True), lambda a: a["activations"] < 0.3, ("002 memory tab activations",), SIZES),
    Asked("d_adapters", memory({"lora_rank": 0}, lora_rank=16), lambda a: a["optimizer"] < 0.2 and a["gradients"] < 0.2 and a["reference"] == 0, ("002 memory adapters",), SIZES),
    Asked("d_faster", paced((0.2, 0.21, 0.25, 0.45, 0.8)), lambda a: a == "accelerating", ("004 traj Rate",)),
    Asked("d_slower", paced((0.2, 0.6, 0.75, 0.79, 0.8)), lambda a: a in ("slowing", "stopped"), ("004 traj Rate",)),
    Asked("d_drift_lowers_the_odds", drifting, lambda a: a < 0.8, ("004 final risk",), ("trl", "verl")),
    Asked("d_probe", probed, lambda a: tuple(a["branch"]) == ("rose", "stayed") and "should_accept_fn" in a["do"], ("000 rewards 4 probe",), ("trl", "verl", "areal")),
    Asked("d_other_protocol", evaluated, lambda a: bool(a["refused"]) and not a["variants"], ("002 order 2",)),
    Asked("d_protocol", protocol_of, lambda a: a.get("temperature") == 0.6, ("002 eval protocol",)),
    Asked("d_engines_part", engines(lambda s: 0.02 * (s + 1), lambda _: 0.02), lambda a: a["shape"] == "growing" and a["exact_match"] == 1, ("003 consistency",), DUMPS),
    Asked("d_engines_usual", engines(lambda _: 0.3, lambda _: 0.02), lambda a: a["logprobs"]["gap_mean"] > 0.03 and "is not usual (up to" in a["statement"], ("003 consistency usual",), DUMPS),
    Asked("d_engines_precision", engines(lambda _: 0.02, lambda s: 0.02 * (s + 1)), lambda a: a["shape"] == "constant" and a["logprobs"]["gap_mean"] < 0.03, ("002 fresh q2",), DUMPS),
)  # fmt: skip
