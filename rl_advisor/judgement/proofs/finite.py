"""Numbers that are none: where along the loop they begin, and what the finite numbers beside them say."""

from collections.abc import Iterator

import numpy as np

from rl_advisor.detectors.non_finite import turned, unharmed
from rl_advisor.judgement.proofs.proof import Proof
from rl_advisor.judgement.proofs.rows import FEW, Rows

LANGUAGE = ("grpo", "ppo_language", "language")
OUTCOME = ("reward/mean", "reward/min", "reward/max", "episode/length")
ADVANTAGE = ("advantage/mean", "advantage/std", "advantage/min", "advantage/max")
CRITIC = ("value/loss", "value/mean", "value/explained_variance", "value/return_mean")
POLICY = ("ratio/mean", "kl/old", "entropy/mean", "policy/std", "policy/loss", "policy/total_loss")
GRADIENT = ("policy/grad_norm",)
WATCHED = (*ADVANTAGE, *CRITIC, *POLICY, *GRADIENT)
VERSIONS = (
    "Which versions of the trainer, of the inference engine and of DeepSpeed or FSDP are these?",
    "whether it is a known, repaired fault",
)
SCRIPT = ("Can you paste the launch command or the configuration?", "which of the causes is possible at all")


def not_finite(rows: Rows) -> Iterator[Proof]:
    """NaN and infinity in what an update computes: the first stage of the loop that shows them, and how far they went."""
    bad = [n for n in WATCHED if _broken(rows, n)]
    if not bad:
        yield from _once(rows)
        return
    last = [n for n in bad if not _outlived(rows, n)]
    if not last:
        return
    says, cause = _retold(rows, last)
    yield Proof(says, causes=(cause,), about=tuple(last), ask=(SCRIPT, VERSIONS) if rows.around.method in LANGUAGE else (SCRIPT,))


def nothing_to_average(rows: Rows) -> Iterator[Proof]:
    """A reward that is NaN in every row beside an update that is not: no episode has ended."""
    empty = [n for n in OUTCOME if (v := rows.values(n)).size and not np.isfinite(v).any()]
    if not empty or any(_broken(rows, n) for n in WATCHED):
        return
    counted = rows.last("progress/episodes")
    sure = counted == 0
    says = f"{_names(rows, empty)} {'are' if len(empty) > 1 else 'is'} NaN because there is nothing to average: "
    says += "no episode has ended yet (the count of episodes is 0)." if sure else "as it seems no episode ended in these rows."
    yield Proof(says, causes=("no_episode",), about=tuple(empty))


def _broken(rows: Rows, name: str) -> bool:
    """Whether the last value of a metric that was ever finite, or stands beside finite ones, is none."""
    last = rows.last(name)
    return last is not None and not np.isfinite(last)


def _outlived(rows: Rows, name: str) -> bool:
    """Whether the outcome went on after a metric was no number: then it was not logged, or the update was skipped."""
    at = turned(rows.run.curves[name])
    return at is not None and unharmed(rows.run, name, at)


def _once(rows: Rows) -> Iterator[Proof]:
    """A few rows that are not finite among finite ones: single batches, not the weights."""
    if rows.count > FEW:
        return
    for name in WATCHED:
        values = rows.values(name)
        count = int(np.sum(~np.isfinite(values)))
        if count:
            says = f"{rows.called(name)} is NaN or infinite in {count} of {values.size} rows and finite again afterwards:"
            yield Proof(f"{says} one bad batch; the weights survived it.", causes=("one_batch",), about=(name,))
            return


def _retold(rows: Rows, bad: list[str]) -> tuple[str, str]:
    """What the names that are not finite say together, and the likeliest cause."""
    names = _names(rows, bad)
    verb = "are" if len(bad) > 1 else "is"
    finite = [n for n in (*POLICY, *GRADIENT) if (v := rows.last(n)) is not None and np.isfinite(v)]
    control = rows.around.method not in LANGUAGE
    infinite = all(np.isinf(rows.last(n) or 0.0) for n in bad)
    if set(bad) <= set(CRITIC) and infinite and control:
        return f"{names} {verb} infinite: the critic was fed values without a bound, and NaN in the policy follows.", "outliers"
    if set(bad) <= set(CRITIC) and finite:
        return f"Only the critic is broken: {names} {verb} NaN or infinite while {_names(rows, finite[:3])} are finite.", "critic_nan"
    if finite and any(n in ADVANTAGE for n in bad):
        first = _names(rows, [n for n in bad if n in ADVANTAGE])
        says = f"The loop is NaN from the advantages on ({first}), while {_names(rows, finite[:2])} can still be computed:"
        return f"{says} the fault lies before the loss.", "advantage_nan"
    beside = [n for n in finite if n in POLICY]
    if set(bad) == set(GRADIENT) and beside:
        says = f"{names} {verb} NaN or infinite while {_names(rows, beside[:3])} {'are' if len(beside) > 1 else 'is'} finite:"
        return f"{says} it arises in the backward pass of that update. A trainer that skips such updates keeps its weights.", "backward_nan"
    so = "from that row on every later number is worthless" if rows.count > 1 else "nothing computed from here on counts"
    return f"{names} {verb} NaN or infinite: {so}, and the last checkpoint before is the one to go back to.", (
        "observations_nan" if rows.around.method is not None and control else "overflow"
    )


def _names(rows: Rows, names: list[str]) -> str:
    said = [rows.called(n) for n in names[:4]]
    return ", ".join(said)
