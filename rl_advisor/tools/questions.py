"""Questions back: what a run's files leave open and what would change the judgement, each with the argument that takes the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rl_advisor.output.clean import is_name
from rl_advisor.output.wording import plain
from rl_advisor.tools.asking import HOW, advisor_named
from rl_advisor.tools.runs import as_asked

NEAR = 0.75
"""How likely a guessed outcome is at most for the next best to be asked about."""
PLANS = (1.1, 4.0)
"""A run of unknown length is judged as if nearly over and as if hardly begun: times its last step."""


def questions(asked: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The questions whose answer would change verdict or call of the run that ``assess_run`` was asked about so."""
    judge, how = advisor_named("builtin").assess, {name: asked[name] for name in HOW if asked.get(name) is not None}
    run = as_asked(asked["run"], **how)
    guess = run.outcome_guess
    if guess and guess.p < NEAR and is_name(guess.raw) and is_name(guess.runner_up):
        other = judge(as_asked(asked["run"], **how | {"mapping": {**how.get("mapping", {}), "reward/mean": guess.runner_up}}))
        if (other.verdict, other.call) != (answer["verdict"], answer["call"]):
            yield {
                "question": f"Which column is the outcome: {guess.raw}, which was taken, or {guess.runner_up}?",
                "decides": f"By {guess.runner_up} the run is {plain(other.verdict)}, {other.call}.",
                "argument": "mapping",
                "choices": [guess.raw, guess.runner_up],
            }
    if run.planned_steps is None and run.last_step:
        nearly, hardly = (judge(replace(run, planned_steps=round(times * run.last_step))).call for times in PLANS)
        if nearly != hardly:
            yield {
                "question": f"How many steps are planned? The last one logged is {run.last_step:.0f}.",
                "decides": f"Nearly over: {nearly}; hardly begun: {hardly}.",
                "argument": "planned",
            }
