"""garage and rllab: ``progress.csv`` and printed tables; ``Evaluation/`` is what on-policy algorithms were trained on, no held-out test."""

from rl_advisor.vocabulary import Dialect

DIALECT = Dialect(
    name="garage",
    marks=(
        "Evaluation/AverageReturn", "Evaluation/AverageDiscountedReturn", "Evaluation/NumTrajs", "Evaluation/NumEpisodes", "TotalEnvSteps",
        "AverageDiscountedReturn", "NumTrajs", "dLoss", "LossBefore", "MeanKLBefore", "AveragePolicyStd",
    ),
    metrics={
        "Evaluation/AverageReturn": "reward/mean",
        "AverageReturn": "reward/mean",
        "Evaluation/StdReturn": "reward/std",
        "StdReturn": "reward/std",
        "Evaluation/MaxReturn": "reward/max",
        "MaxReturn": "reward/max",
        "Evaluation/MinReturn": "reward/min",
        "MinReturn": "reward/min",
        "MeanKL": "kl/old",
        "Entropy": "entropy/mean",
        "ExplainedVariance": "value/explained_variance",
        "AveragePolicyStd": "policy/std",
    },
    patterns=(
        (r"\w*Policy/Entropy", "entropy/mean"),
        (r"\w*Policy/KL", "kl/old"),
        (r"\w*(?:Baseline|ValueFunction)\w*/ExplainedVariance", "value/explained_variance"),
    ),
    step="iterations",
    notes={"reward/mean": "of the trajectories the update was made of", "entropy/mean": "of a Gaussian, so it may be negative"},
)  # fmt: skip
