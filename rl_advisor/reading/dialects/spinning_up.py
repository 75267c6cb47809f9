"""Spinning Up, and what was built on its logger: ``progress.txt`` with tabs, one row an epoch, by environment interactions."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="spinning_up",
    marks=(
        "AverageEpRet", "StdEpRet", "MaxEpRet", "AverageTestEpRet", "TestEpLen", "TotalEnvInteracts", "AverageVVals", "AverageQ1Vals",
        "DeltaLossPi", "DeltaLossV", "LossPi", "StopIter",
    ),
    metrics={
        "AverageEpRet": "reward/mean",
        "MinEpRet": "reward/min",
        "MaxEpRet": "reward/max",
        "StdEpRet": "reward/std",
        "EpLen": "episode/length",
        "AverageTestEpRet": "eval/score/TestEpRet",
        "TestEpLen": "eval/length",
        "AverageVVals": "value/mean",
        "AverageQ1Vals": "value/mean",
        "AverageQVals": "value/mean",
        "LossPi": "policy/loss",
        "LossV": "value/loss",
        "LossQ": "value/loss",
        "LossQ1": "value/loss",
        "Entropy": "entropy/mean",
        "KL": "kl/old",
        "ClipFrac": "ratio/clip_fraction",
        "Time": "time/elapsed",
    },
    patterns=((r"(Std|Min|Max)TestEpRet", r"eval/other/\1TestEpRet"),),
    step="env steps",
    notes={
        "kl/old": "k1 estimator, signed",
        "value/loss": "before the update",
        "reward/mean": "of the episodes that ended in the epoch",
    },
)  # fmt: skip
