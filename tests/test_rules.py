"""A rule in one line: what it means, what breaks it, and that nothing but its form is understood."""

import numpy as np
import pytest
from rl_advisor.output.errors import UsageError
from rl_advisor.run import Curve, Run
from rl_advisor.tools.rules import rule

STEPS = np.arange(0.0, 100, 5)


def _run(**raised: float) -> Run:
    """KL at 0.1, above its limit from a step on; a loss that ends as not a number; two metrics of one last name."""
    kl = np.where(raised.get("since", 1e9) <= STEPS, 0.9, 0.1)
    loss = np.r_[np.ones(STEPS.size - 1), np.nan]
    rows = {"kl/ref": ("objective/kl", kl), "policy/loss": ("loss", loss), "a/x": ("train/score", kl), "b/x": ("eval/score", kl)}
    return Run(curves={name: Curve(name, raw, "f", STEPS, value) for name, (raw, value) in rows.items()})


@pytest.mark.parametrize(
    ("text", "since", "fires"),
    [
        ("kl > 0.5", 95, True),
        ("kl > 0.5 for 20 steps", 95, False),
        ("kl > 0.5 for 20 steps", 80, False),
        ("kl > 0.5 for 20 steps", 75, True),
        ("objective/kl>=9e-1", 75, True),
        ("kl/ref < 0.05", 75, False),
        ("KL > 0.5 FOR 1 STEP", 75, True),
        ("loss is nan", 1e9, True),
        ("loss > 0", 1e9, False),
    ],
)
def test_rules(text: str, since: float, fires: bool) -> None:
    said = rule(text)(_run(since=since))
    assert (said is not None) == fires
    assert not fires or (text.strip() in said and "is broken since step" in said)


@pytest.mark.parametrize(
    "text", ["", "kl", "kl > ", "kl > 0.5 for ever", "__import__('os').system('x') > 1", "kl > 1.2.3", "kl > 0.5; rm", "k" * 300 + " > 1"]
)
def test_what_is_no_rule_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="is no rule"):
        rule(text)


@pytest.mark.parametrize(("text", "says"), [("score > 1", "eval/score, train/score"), ("klx > 1", "no metric is called 'klx'")])
def test_names_that_fit_several_or_nothing(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        rule(text)(_run())
