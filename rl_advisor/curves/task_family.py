"""What kind of training a run is (language, tools, classic control, ...), read off what it has logged."""

from rl_advisor.run import Run

FAMILIES: dict[str, tuple[str, ...]] = {
    "tools": ("episode/turns", "episode/tool_calls"),
    "experts": ("kl/mismatch", "mismatch/logprob", "mismatch/prob", "mismatch/correlation"),
    "language": ("response/length", "response/truncated", "kl/ref"),
    "replay": ("exploration/rate", "entropy/coef"),
    "control": ("episode/length",),
    "systems": ("time/step", "throughput/tokens", "throughput/env_steps"),
}
"""Kind of training -> metrics of which one tells it, the most particular kind first. Rows of ``any`` fit every run."""


def families(run: Run) -> frozenset[str]:
    """The kinds of training that the logged metrics tell of; a run of language is not also one of control."""
    found = {family for family, names in FAMILIES.items() if any(name in run.curves for name in names)}
    if len(run.rollouts):
        found.add("language")
    if run.step_unit in ("env steps", "episodes"):
        found.add("control")
    return frozenset(found - {"control"} if found & {"language", "tools"} else found)
