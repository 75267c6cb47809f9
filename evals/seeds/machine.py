"""Situations of the machine and of what stands beside a run: GPUs and timers, seeds, engines, a saved batch, prompts, watching.

Each is asked twice a drawing, as in ``doors``: as the seed says it, and as a near-miss that differs in that one thing.
"""

import json
import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from evals.seeds.answered import run as sampled
from evals.seeds.course_of_runs import but, language
from evals.seeds.doors import Asked, Drawing, even
from evals.seeds.drawing import Floats, jump, share, way
from evals.seeds.environments import SCRIPTS, wired
from evals.seeds.frames import written
from rl_advisor.answers.compare import compare
from rl_advisor.answers.context import context
from rl_advisor.answers.critic import critic_test
from rl_advisor.answers.curves import summaries
from rl_advisor.answers.engine_consistency import consistency
from rl_advisor.answers.inventory import inventory
from rl_advisor.answers.preflight import before
from rl_advisor.api import assess, diagnose
from rl_advisor.gpu.profile import profile
from rl_advisor.output.clean import clean
from rl_advisor.output.errors import UsageError
from rl_advisor.reading import read_run
from rl_advisor.tools.listener import Listener

HEAD = (
    "timestamp, index, power.draw [W], power.draw.instant [W], energy [mJ], utilization.gpu [%], utilization.memory [%], memory.used [MiB], "
    "memory.total [MiB], temperature.gpu, clocks.current.sm [MHz], clocks_event_reasons.active, processes"
)
STEPS, SECONDS, ROW = 30, 4.0, 0.1
OWN, OTHER = 4100, 977
Part = tuple[float, float, float, float]
"""A part of a step: its share, its watts, its memory activity in percent, its memory in GiB."""
BALANCED: tuple[Part, ...] = ((0.55, 250, 8, 60), (0.45, 420, 30, 60))


def gpus(d: Drawing, parts: tuple[Part, ...], beside: Callable[[Floats], Floats] | None = None, foreign: int | None = None) -> Path:
    """A recording of one card beside the times at which steps ended; ``beside`` is memory of a process (``foreign``: its number)."""
    d.folder.mkdir(parents=True)
    ends, at, rows, start = [8.0], 8.0, [(0.0, 8.0, 200.0, 5.0, parts[0][3])], 1.7953e9
    for _ in range(STEPS):
        for length, watts, active, held in parts:
            seconds = length * SECONDS * float(np.exp(0.02 * d.rng.normal()))
            rows.append((at, at + seconds, watts, active, held))
            at += seconds
        ends.append(at)
    time = np.arange(0.5, at, ROW)
    place = np.searchsorted([r[0] for r in rows], time, side="right") - 1
    watts, active, held = (np.array([r[k] for r in rows])[place] for k in (2, 3, 4))
    power = np.convolve(watts, np.ones(10) / 10)[: time.size] + d.rng.normal(0, 3, time.size)  # as sensors do: of the last second
    more = beside(time) if beside is not None else np.zeros(time.size)
    lines = [HEAD]
    for k, t in enumerate(time):
        stamp = datetime.fromtimestamp(start + t, UTC).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
        own = "[N/A]" if foreign is None else f"{OWN}:{1024 * held[k]:.0f}" + f";{foreign}:{1024 * more[k]:.0f}" * bool(more[k] > 0)
        used = 1024 * (held[k] + more[k])
        cells = (
            f"{power[k]:.2f}",
            "[N/A]",
            "[N/A]",
            f"{95 if watts[k] > 150 else 0}",
            f"{active[k]:.0f}",
            f"{used:.0f}",
            "143771",
            "50",
            "1900",
        )
        lines.append(", ".join((stamp, "0", *cells, "[N/A]", own)))
    (d.folder / "steps.jsonl").write_text("\n".join(json.dumps({"step": i + 1, "time": start + t}) for i, t in enumerate(ends)))
    (journal := d.folder / "gpu.csv").write_text("\n".join(lines) + "\n")
    if d.form == "parquet":
        pd.read_csv(journal, dtype=str, sep=", ", engine="python", keep_default_na=False).to_parquet(d.folder / "gpu.parquet")
        journal.unlink()
    return d.folder


def phases(parts: tuple[Part, ...], near: tuple[Part, ...]) -> Callable[[Drawing], dict[str, Any]]:
    """The profile of a recording, by phase."""
    return lambda d: {row["name"]: row for row in profile(read_run(gpus(d, near if d.near else parts)))["phases"]}


def patterns_of(parts: tuple[Part, ...], near: tuple[Part, ...]) -> Callable[[Drawing], set[str]]:
    """The patterns that are present in a recording."""
    return lambda d: {f.pattern for f in diagnose(gpus(d, near if d.near else parts)) if f.there}


def shared(height: float, near: float, foreign: int | None) -> Callable[[Drawing], set[str]]:
    """The patterns of a card of which something takes memory for a quarter of a minute."""

    def ask(d: Drawing) -> set[str]:
        came = 40 + 10 * d.rng.random()
        held = near if d.near else height
        return {f.pattern for f in diagnose(gpus(d, BALANCED, lambda t: held * ((t > came) & (t < came + 15)), foreign)) if f.there}

    return ask


TIMERS = {
    "verl": ("timing_s/gen", "timing_s/update_actor", "timing_s/reward"),
    "openrlhf": ("timing/make_experience", "timing/policy_train", "timing/reward"),
}


def timed(d: Drawing, grading: float, **curves: Any) -> Any:
    """The assessment of a run that learns, with ten seconds of generation, eight of training, and so many of grading a step."""
    names = TIMERS[d.form]
    raw = {name: way(seconds, sd=0.03 * seconds) for name, seconds in zip(names, (10.0, 8.0, grading), strict=True)}
    made = but(
        language(
            {"accuracy": share(0.3, 0.5, 0.6, sd=0.01)},
            reward__mean=share(0.3, 0.5, 0.65, sd=0.02),
            time__step=way(18.2 + grading, sd=0.3),
            **curves,
        ),
        raw=raw,
    )
    return assess(d.run(made, steps=160))


def seeds(many: int, few: int) -> Callable[[Drawing], dict[str, Any]]:
    """Two variants far apart, of so many seeds each."""

    def ask(d: Drawing) -> dict[str, Any]:
        runs = []
        for i in range(2 * (many if d.near else few)):
            top, rate = ((0.45, 1e-6), (0.8, 3e-6))[i % 2]
            made = language(reward__mean=share(0.2, top, sd=0.015), settings={"learning_rate": rate, "seed": i})
            runs.append(d.run(made, f"run-{i}"))
        return compare(runs)

    return ask


def scaled(d: Drawing) -> dict[str, Any]:
    """A saved batch whose critic is right but for the scale; of the near-miss wholly right."""
    seen = d.rng.normal(size=(500, 4))
    returns = 40 * (np.sin(seen[:, 0]) + 0.4 * seen[:, 1]) + d.rng.normal(size=500)
    values = returns * (1.0 if d.near else 0.01) + 0.1 * d.rng.normal(size=500)
    return critic_test(saved(d, {"observations": seen, "returns": returns, "values": values}))


def saved(d: Drawing, arrays: Mapping[str, Floats]) -> Path:
    """A batch as arrays or as lines."""
    d.folder.mkdir(parents=True, exist_ok=True)
    path = d.folder / f"batch.{d.form}"
    if d.form == "npz":
        np.savez(path, **arrays)  # type: ignore[arg-type]
    else:
        path.write_text(
            "\n".join(json.dumps(dict(zip(arrays, row, strict=True))) for row in zip(*(a.tolist() for a in arrays.values()), strict=True))
        )
    return path


def twice(d: Drawing) -> tuple[str, str]:
    """The fingerprints of two tries on one saved batch; of the near-miss one number differs."""
    seen, returns = d.rng.normal(size=(200, 3)), d.rng.normal(size=200)
    first = critic_test(saved(replace(d, folder=d.folder / "one"), {"observations": seen, "returns": returns}))
    again = returns.copy()
    again[7] += float(d.near)
    second = critic_test(saved(replace(d, folder=d.folder / "two", form="npz"), {"observations": seen, "returns": again}))
    return first["fingerprint"], second["fingerprint"]


def unpickled(d: Drawing) -> str:
    """What is said of a batch that was saved as a pickle; of the near-miss as arrays."""
    d.folder.mkdir(parents=True)
    (path := d.folder / f"batch.{'npz' if d.near else d.form}").write_bytes(b"\x80\x04.")
    try:
        return str(critic_test(path))
    except UsageError as refused:
        return str(refused)


def prompts(d: Drawing) -> list[str]:
    """What speaks against two sets of prompts: the base model solves one set often and hardly the other; of the near-miss both alike."""
    d.folder.mkdir(parents=True)
    for name, rate in (("train", 0.05), ("test", 0.07 if d.near else 0.7)):
        rows = [
            {"prompt": f"{name} question {i} of {d.rng.integers(1 << 30)}", "pass_rate": float(np.clip(rate + 0.03 * d.rng.normal(), 0, 1))}
            for i in range(150)
        ]
        text = (
            "\n".join(map(json.dumps, rows))
            if d.form == "jsonl"
            else "prompt,pass_rate\n" + "\n".join(f"{r['prompt']},{r['pass_rate']}" for r in rows)
        )
        (d.folder / f"{name}.{d.form}").write_text(text)
    return list(before(train=d.folder / f"train.{d.form}", test=d.folder / f"test.{d.form}")["prompts"]["faults"])


def dumped(d: Drawing) -> dict[str, Any]:
    """Lines of the skill's two scripts, of the same answers; of the near-miss the trainer has others."""
    engine, trainer = (runpy.run_path(str(SCRIPTS / f"dump_{side}.py")) for side in ("engine", "trainer"))
    d.folder.mkdir(parents=True)
    rows = [(f"question {i}", f"answer {d.rng.integers(1 << 30)}", (-d.rng.exponential(1, 9)).tolist()) for i in range(30)]
    echo = [None] * (d.form == "echoed")
    lines = (engine["line"](p, {"text": r, "logprobs": {"token_logprobs": [*echo, *logs]}}) for p, r, logs in rows)
    (d.folder / "engine.jsonl").write_text("\n".join(lines))
    own = (trainer["line"](p, f"{r}{' and more' * d.near}", [*echo, *(x - 0.02 for x in logs)]) for p, r, logs in rows)
    (d.folder / "trainer.jsonl").write_text("\n".join(own))
    return consistency(d.folder / "trainer.jsonl", d.folder / "engine.jsonl")


def stops(d: Drawing) -> bool:
    """Whether a listener stops a training whose loss turned to NaN; the near-miss learns."""
    broken = {"policy__grad_norm": jump((0.2, 0.25), (2.0, 9.0), 0.8, sd=0.1), "policy__loss": way(0.01, sd=0.004, nan_from=0.9)}
    made = language(reward__mean=share(0.3, 0.5, 0.65, sd=0.02), **({} if d.near else broken))
    folder = written(but(made, plan=2.0), d.form, 160, d.rng, d.folder / "run")
    return Listener(folder, 10).stop_advised(1000)


def reported(d: Drawing) -> bool:
    """Whether the page of a run that ended lies in its folder; of the near-miss none was asked for."""
    folder = written(language(reward__mean=share(0.3, 0.5, 0.65, sd=0.02)), d.form, 120, d.rng, d.folder / "run")
    Listener(folder, 10, **({"report": None} if d.near else {})).finish()
    page = folder / "rl-advisor-report.html"
    return page.is_file() and "<svg" in page.read_text(encoding="utf-8")


def tokens_twice(d: Drawing) -> tuple[str, str]:
    """The fingerprints of two tries on one saved batch of tokens, without observations or returns; of the near-miss one token differs."""
    tokens, paid = d.rng.integers(0, 30_000, (24, 9)), d.rng.normal(size=24)
    again = tokens + np.eye(24, 9, dtype=int) * d.near
    tries = (("one", d.form, tokens), ("two", "npz", again))
    told = [critic_test(saved(replace(d, folder=d.folder / n, form=f), {"input_ids": x, "rewards": paid})) for n, f, x in tries]
    return told[0]["fingerprint"], told[1]["fingerprint"]


AHEAD = {"areal": ("rollout.max_head_offpolicyness", 0, 4), "verl": ("async_training.staleness_threshold", 0.0, 0.5)}


def ahead(d: Drawing) -> dict[str, Any]:
    """A run in step and one whose generation runs ahead: half the time a step, and it learns less; of the near-miss both are in step."""
    key, off, on = AHEAD[d.form]
    made = (
        (off, 60, share(0.2, 0.4, 0.75, sd=0.02)),
        (off if d.near else on, 30, share(0.2, 0.45, 0.55, sd=0.02)),
    )
    told = (language(reward__mean=paid, time__step=way(s, sd=0.02 * s), settings={key: x, "seed": 1}) for x, s, paid in made)
    return dict(compare([d.run(one, f"run-{i}", steps=120) for i, one in enumerate(told)])["asynchrony"])


def looked(d: Drawing) -> dict[str, Any]:
    """Three runs that looked at one held-out set twenty times each; of the near-miss nobody looked."""
    score = {} if d.near else {"accuracy": share(0.5, sd=0.015, phi=0.0)}
    runs = [language(score, reward__mean=share(0.3, 0.5, sd=0.02), settings={"seed": i, "learning_rate": 1e-6 * (1 + i)}) for i in range(3)]
    return dict(compare([d.run(made, f"run-{i}", steps=100) for i, made in enumerate(runs)])["looks"])


def logged(d: Drawing) -> set[str]:
    """What is on record during training; of the near-miss the samples alone were kept."""
    folder = written(sampled(even), d.form, 60, d.rng, d.folder / "run")
    for name in ("trainer_state.json", "metrics.jsonl") if d.near else ():
        (folder / name).unlink(missing_ok=True)
    return set(context(read_run(folder))["during"]["there"])


def last_saved(d: Drawing) -> list[float]:
    """The steps of the checkpoints and the last step; of the near-miss the last checkpoint was deleted."""
    folder = written(language(reward__mean=share(0.3, 0.5, sd=0.02)), d.form, 60, d.rng, d.folder / "run")
    kept = sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: int("".join(filter(str.isdigit, p.name))))
    for path in [kept[-1], *kept[-1].glob("*")][::-1] if d.near else ():
        path.rmdir() if path.is_dir() else path.unlink()
    run = read_run(folder)
    return [max((c.step for c in run.checkpoints), default=-1.0), run.last_step]


NAMED = {"trl": ("reward", "kl"), "verl": ("critic/score/mean", "actor/kl_loss")}


def loaded(d: Drawing) -> bool:
    """Whether reward and KL are known by our words, with the framework's names beside; the near-miss calls them otherwise."""
    folder = written(language(reward__mean=share(0.3, 0.5, sd=0.02)), d.form, 60, d.rng, d.folder / "run")
    if d.near:
        for path in folder.glob("*.json*"):
            path.write_text(path.read_text().replace(f'"{NAMED[d.form][0]}"', '"zorch"').replace(f'"{NAMED[d.form][1]}"', '"blip"'))
    told = json.dumps(clean(inventory(read_run(folder))))
    return all(f'"{ours}"' in told and f'"{raw}"' in told for ours, raw in zip(("reward/mean", "kl/ref"), NAMED[d.form], strict=True))


def small_rise(d: Drawing) -> str:
    """Which way a small divergence goes that rises in a straight line; of the near-miss it stands."""
    made = language(reward__mean=share(0.5, sd=0.02), kl__ref=way(0.02, sd=0.001) if d.near else way(0.002, 0.02, sd=0.0008, low=0.0))
    return str(summaries(d.run(made, steps=160), metrics=["kl/ref"])["metrics"][0]["overall"]["direction"])


CARDS, BATCHES, TEXTS, PICKLES = ("csv", "parquet"), ("npz", "jsonl"), ("jsonl", "csv"), ("pt", "pkl")
ACTIONS = ("discrete", "box")
GEN_LONG: tuple[Part, ...] = ((0.76, 250, 8, 60), (0.24, 420, 30, 60))
WAITS: tuple[Part, ...] = ((0.3, 250, 8, 60), (0.45, 100, 0, 60), (0.25, 420, 30, 60))
SITUATIONS = (
    Asked("d_gpu_power", phases(BALANCED, ((0.55, 400, 30, 60), (0.45, 400, 30, 60))), lambda a: a.get("generation", {"power_w": np.inf})["power_w"] + 60 < a.get("training", {"power_w": -np.inf})["power_w"] and abs(a["generation"]["share"] - 0.55) < 0.1, ("004 GPU draws", "card gpu"), CARDS),
    Asked("d_gpu_generation", patterns_of(GEN_LONG, BALANCED), lambda a: "generation_bound" in a, ("004 GPU bottleneck", "000 intro"), CARDS),
    Asked("d_gpu_waits", patterns_of(WAITS, BALANCED), lambda a: "waiting_on_reward" in a, ("000 intro", "002 system waiting"), CARDS),
    Asked("d_gpu_memory", phases(((0.6, 250, 8, 70), (0.4, 420, 30, 20)), BALANCED), lambda a: a["generation"]["memory_gib"] > a["training"]["memory_gib"] + 20, ("004 GPU memory",), CARDS),
    Asked("d_gpu_beside", shared(5.0, 0.0, None), lambda a: "background_process" in a, ("004 GPU background",), CARDS),
    Asked("d_gpu_whose", shared(4.0, 0.05, OTHER), lambda a: "background_process" in a, ("004 GPU whose",), CARDS),
    Asked("d_waits", lambda d: timed(d, 1.0 if d.near else 60.0), lambda a: a.next_experiment.do.startswith("GPU idle") and a.verdict == "improving", ("002 system waiting",), tuple(TIMERS)),
    Asked("d_few_seeds", seeds(6, 3), lambda a: a["between"][0]["p"] > 0.05 and any("too few" in note for note in a["notes"]), ("002 seeds",)),
    Asked("d_critic_scale", scaled, lambda a: a["critic"]["std"] < 0.1 * a["returns"]["std"] and "normalised returns" in a["do"], ("002 critic fix",), BATCHES),
    Asked("d_same_batch", twice, lambda a: a[0] == a[1], ("003 offline fast",), BATCHES),
    Asked("d_same_tokens", tokens_twice, lambda a: a[0] == a[1], ("003 offline fast",), BATCHES),
    Asked("d_ahead", ahead, lambda a: bool(a) and (a["equal_samples"]["way"], a["equal_time"]["way"]) == ("below", "above") and 1.7 < a["speed"] < 2.3, ("000 sync",), tuple(AHEAD)),
    Asked("d_looks", looked, lambda a: bool(a) and a["looks"] == 60 and 0.02 < a["flattered"] < 0.06, ("002 order 2",)),
    Asked("d_pickled", unpickled, lambda a: "torch.load" in a and "weights_only=True" in a and "numpy.savez" in a, ("003 offline pickle",), PICKLES),
    Asked("d_prompts", prompts, lambda a: any("pass" in f or "base model" in f for f in a), ("000 rewards 4 distributions",), TEXTS),
    Asked("d_dumps", dumped, lambda a: a["pairs"] == 30 and abs(a["logprobs"].get("gap_mean", 9) - 0.02) < 0.005, ("003 scripts",), ("plain", "echoed")),
    Asked("d_deaf", wired("deaf"), lambda a: "do actions arrive" in a, ("002 order 1 actions", "002 before unit test"), ACTIONS),
    Asked("d_endless", wired("endless"), lambda a: "terminal signal" in a, ("002 order 1 terminal", "002 env test ends"), ACTIONS),
    Asked("d_nan_stops", stops, lambda a: a is True, ("002 nan stop",)),
    Asked("d_report", reported, lambda a: a is True, ("card report",)),
    Asked("d_record_log", logged, lambda a: "training log" in a, ("002 context logs",)),
    Asked("d_last_saved", last_saved, lambda a: a[0] >= a[1] - 6, ("002 after last",)),
    Asked("d_loaded", loaded, lambda a: a is True, ("card load",)),
    Asked("d_small_rise", small_rise, lambda a: a == "rising", ("card summarize",)),
)  # fmt: skip
