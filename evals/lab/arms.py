"""The cheap rules that an advisor has to beat, each a function from a Run to an answer.

They use no labels and nothing that was tuned on any. A rule without a probability of its own leaves it out, and is then not scored
on probabilities. ``ARMS`` lists them by name; ``rldoctor`` is there only where that package is installed.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from evals.lab import rules
from rl_advisor.run import Run

Arm = Callable[[Run], dict[str, Any]]


def _say(run: Run, verdict: str, call: str, link: str = "none", **more: Any) -> dict[str, Any]:
    """An answer; the step of the highest raw value is the checkpoint unless the rule names another."""
    return {"verdict": verdict, "call": call, "first_broken_link": link, "best_step": rules.best_step(run)} | more


def always_continue(run: Run) -> dict[str, Any]:
    """Nothing is ever wrong: go on, keep the last checkpoint."""
    return _say(run, "improving", "continue", best_step=run.last_step)


def always_stop(run: Run) -> dict[str, Any]:
    """It has learned what it will: stop, keep the last checkpoint."""
    return _say(run, "plateaued", "stop", best_step=run.last_step)


def patience(share: float) -> Arm:
    """Early stopping: stop when the best value is older than this share of the planned steps."""

    def arm(run: Run) -> dict[str, Any]:
        best = rules.best_step(run)
        stale = best is not None and run.last_step - best > share * (run.planned_steps or run.last_step)
        return _say(run, "plateaued" if stale else "improving", "stop" if stale else "continue")

    return arm


def budget_only(run: Run) -> dict[str, Any]:
    """The share of the budget that is left, taken as the probability that using it pays; the metrics are not looked at."""
    planned = run.planned_steps or run.last_step or 1.0
    left = min(1.0, max(0.0, 1 - run.last_step / planned))
    goes_on = left >= 0.5
    return _say(run, "improving" if goes_on else "plateaued", "continue" if goes_on else "stop", p_continue_pays=left)


def trend_test(run: Run) -> dict[str, Any]:
    """Mann-Kendall on the last 35 percent of the points, as if they were independent: go on while it rises at p < 0.05."""
    values = rules.progress(run)[1]
    window = min(values.size, max(12, int(0.35 * values.size)))
    score = rules.mann_kendall(values[-window:])[0] if window else 0.0
    verdict = "improving" if score > 1.96 else "degrading" if score < -1.96 else "plateaued"
    return _say(run, verdict, "continue" if verdict == "improving" else "stop", "policy_update" if verdict == "degrading" else "none")


def wandb_loss(run: Run) -> dict[str, Any]:
    """The rule of the W&B MCP server's run diagnosis: compare the halves of the loss, 5 percent apart, lower being better."""
    values = rules.finite(run, "policy/loss")[1]
    return _by_halves(run, rules.halves(values if values.size else rules.finite(run, "policy/total_loss")[1]), good="falling")


def wandb_score(run: Run) -> dict[str, Any]:
    """The same rule on the held-out score or the reward, higher being better: kinder to it than its own choice of metric."""
    return _by_halves(run, rules.halves(rules.progress(run)[1]), good="rising")


def _by_halves(run: Run, direction: str, good: str) -> dict[str, Any]:
    if direction == "unknown":
        return _say(run, "undecidable", "continue")
    if direction == good:
        return _say(run, "improving", "continue")
    return _say(run, "plateaued", "stop") if direction == "flat" else _say(run, "degrading", "stop", "policy_update")


def _verdict_of(alarms: Mapping[str, str]) -> str:
    """The verdict that rl-doctor's alarms amount to in our words."""
    if "reward_hacking" in alarms:
        return "reward_hacking"
    if "plateau" in alarms:
        return "degrading" if alarms["plateau"] == "declining" else "plateaued"
    return "unstable" if alarms else "improving"


_LINKS = {
    "reward_hacking": "reward_signal",
    "reward_composition": "reward_signal",
    "advantage_collapse": "training_signal",
    "length_pathology": "environment_data",
    "length_hacking": "environment_data",
    "kl_drift": "policy_update",
    "clip_saturation": "policy_update",
    "entropy_collapse": "exploration",
    "gradient_pathology": "numerics",
    "grad_pathology": "numerics",
}


def _from_alarms(run: Run, alarms: Mapping[str, str]) -> dict[str, Any]:
    """The answer that rl-doctor's alarms, worst first, amount to; a plateau or KL drift is a reason to stop."""
    link = next((_LINKS[name] for name in alarms if name in _LINKS), "none")
    stop = not {"plateau", "kl_drift"}.isdisjoint(alarms)
    return _say(run, _verdict_of(alarms), "stop" if stop else "continue", link)


def rldoctor_like(run: Run) -> dict[str, Any]:
    """The published rules of rl-doctor 0.2 in own words and on our names: each alarm by its fixed threshold."""
    found = {
        "reward_hacking": _gap_alarm(run),
        "kl_drift": _level_alarm(run, "kl/ref", 2.0),
        "entropy_collapse": _entropy_alarm(run),
        "advantage_collapse": _level_alarm(run, "reward/flat_groups", 0.5),
        "length_pathology": _level_alarm(run, "response/truncated", 0.05),
        "clip_saturation": _level_alarm(run, "ratio/clip_fraction", 0.2),
        "plateau": _plateau_alarm(run),
    }
    return _from_alarms(run, {name: word for name, word in found.items() if word})


def _level_alarm(run: Run, name: str, limit: float) -> str:
    values = rules.finite(run, name)[1]
    return "high" if values.size >= 8 and rules.edges(values)[1] >= limit else ""


def _entropy_alarm(run: Run) -> str:
    """A tenth of the first entropy reached or, at the rate of the later half, due within a quarter of the run (all of it if no gain)."""
    steps, values = rules.finite(run, "entropy/mean")
    if values.size < 8 or values.min() <= 0:
        return ""
    (first, last), half = rules.edges(values), values.size // 2
    rate = rules.slope(steps[half:], np.log(values[half:]))
    score = rules.progress(run)[1]
    rising = score.size >= 8 and rules.mann_kendall(score[score.size // 2 :])[0] > 1.96
    horizon = (steps[-1] - steps[0]) * (0.25 if rising else 1.0)
    due = rate < 0 and last * float(np.exp(rate * horizon)) <= 0.1 * first
    return "low" if last <= 0.1 * first or due else ""


def _gap_alarm(run: Run) -> str:
    """Training reward rising significantly while the held-out score falls significantly."""
    curve = rules.held_out(run)
    rewards = rules.finite(run, "reward/mean")[1]
    if curve is None or rewards.size < 8:
        return ""
    up, down = rules.mann_kendall(rewards)[0] > 1.96, rules.mann_kendall(curve.finite()[1])[0] < -1.96
    return "diverging" if up and down else ""


def _plateau_alarm(run: Run) -> str:
    """Not rising over the last 35 percent, and the best value 30 percent of the run old; silent in the first half of the plan."""
    steps, values = rules.progress(run)
    if values.size < 12 or (run.planned_steps and steps[-1] < 0.5 * run.planned_steps):
        return ""
    window = max(12, int(0.35 * values.size))
    old = steps[-1] - steps[int(values.argmax())] >= 0.3 * (steps[-1] - steps[0])
    score = rules.mann_kendall(values[-window:])[0]
    return "" if not old or score > 1.96 else "declining" if score < -1.96 else "flat"


def rldoctor(run: Run) -> dict[str, Any]:
    """rl-doctor itself, where it is installed, on the metrics as the framework named them."""
    package = import_module("rl_doctor")
    found = package.diagnose(package.run_from_records(_records(run), dict(run.config))).problems
    alarms = {
        f.detector: "declining" if "declining" in f.summary else f.summary for f in found if f.severity.name in ("WARNING", "CRITICAL")
    }
    return _from_alarms(run, alarms)


def _records(run: Run) -> list[dict[str, float]]:
    rows: dict[float, dict[str, float]] = {}
    for curve in run.curves.values():
        for step, value in zip(curve.step.tolist(), curve.value.tolist(), strict=True):
            rows.setdefault(step, {"step": step})[curve.raw] = value
    return [rows[step] for step in sorted(rows)]


ARMS: Mapping[str, Arm] = {
    "always_continue": always_continue,
    "always_stop": always_stop,
    "patience_10": patience(0.1),
    "patience_20": patience(0.2),
    "patience_30": patience(0.3),
    "budget_only": budget_only,
    "trend_test": trend_test,
    "wandb_loss": wandb_loss,
    "wandb_score": wandb_score,
    "rldoctor_like": rldoctor_like,
} | ({"rldoctor": rldoctor} if find_spec("rl_doctor") else {})
