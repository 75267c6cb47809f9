"""Small runs on disk: one curve each, rising, broken or flat, with settings where a test needs them."""

from pathlib import Path

import numpy as np

STEPS = np.arange(1, 61)
NOISE = np.random.default_rng(5).normal(0, 0.02, (3, STEPS.size))
CURVES = {
    "rising": 0.2 + 0.01 * STEPS + NOISE[0],
    "broken": np.where(STEPS < 30, 0.1 + 0.02 * STEPS, 0.02) + NOISE[1],
    "flat": 0.5 + NOISE[2],
}


def written(folder: Path, curve: str, **settings: object) -> Path:
    """A run with that curve, and its settings where there are any."""
    folder.mkdir(parents=True)
    rows = "".join(f"{s},{v:.5f}\n" for s, v in zip(STEPS, CURVES[curve], strict=True))
    (folder / "progress.csv").write_text("step,reward\n" + rows)
    if settings:
        (folder / "config.yaml").write_text("".join(f"{k}: {v}\n" for k, v in settings.items()))
    return folder
