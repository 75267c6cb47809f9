"""Without any held-out score a gamed reward is found in the samples, and nothing sound or broken otherwise is called gamed."""

from pathlib import Path

from benchmarks.withheld import HACK, judged

CORPUS = Path(__file__).parents[2] / "evals" / "corpus" / "grpo"


def test_gamed_rewards_are_found_in_the_samples_alone() -> None:
    """Paid calls, paid politeness and a turned sign are hacks; a random, a loose and two sound ones are none."""
    found = {
        label.run: (label, verdict)
        for label, verdict, _ in judged(CORPUS, ("grpo-03", "grpo-04", "grpo-06", "grpo-07", "grpo-09", "grpo-12", "grpo-13"))
    }
    assert {run for run, (_, verdict) in found.items() if verdict == HACK} == {"grpo-04", "grpo-06", "grpo-13"}
    assert all(verdict in label.verdicts for label, verdict in found.values())
