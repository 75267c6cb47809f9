"""rlkit and what its logger writes: ``progress.csv`` with ``exploration/`` and ``evaluation/`` paths, one row an epoch."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="rlkit",
    marks=(
        "exploration/Returns Mean", "exploration/path length Mean", "evaluation/Returns Mean", "evaluation/Average Returns",
        "evaluation/path length Mean", "trainer/QF1 Loss", "trainer/Policy Loss", "exploration/num steps total", "replay_buffer/size",
        "trainer/Alpha", "expl/Returns Mean", "eval/Returns Mean", "eval/Average Returns",
    ),
    metrics={
        "exploration/Returns Mean": "reward/mean",
        "exploration/Returns Std": "reward/std",
        "exploration/Returns Min": "reward/min",
        "exploration/Returns Max": "reward/max",
        "exploration/path length Mean": "episode/length",
        "evaluation/Returns Mean": "eval/score/return",
        "expl/Returns Mean": "reward/mean",
        "expl/Average Returns": "reward/mean",
        "exploration/Average Returns": "reward/mean",
        "expl/path length Mean": "episode/length",
        "eval/Returns Mean": "eval/score/return",
        "eval/Average Returns": "eval/score/return",
        "eval/path length Mean": "eval/length",
        "expl/num steps total": "progress/env_steps",
        "evaluation/Average Returns": "eval/score/return",
        "evaluation/path length Mean": "eval/length",
        "trainer/QF1 Loss": "value/loss",
        "trainer/QF Loss": "value/loss",
        "trainer/Policy Loss": "policy/loss",
        "trainer/Q1 Predictions Mean": "value/mean",
        "trainer/Alpha": "entropy/coef",
        "trainer/Alpha Loss": "entropy/coef_loss",
        "exploration/num steps total": "progress/env_steps",
        "time/total (s)": "time/elapsed",
        "time/epoch (s)": "time/step",
    },
    patterns=((r"eval(?:uation)?/(.+)", r"eval/other/\1"),),
    step="epochs",
    notes={"policy/loss": "alpha * log pi - Q: lower is a higher Q"},
)  # fmt: skip
