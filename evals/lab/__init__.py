"""The laboratory of the evals: every arm on every corpus, perturbed runs, fits; it runs in a checkout and is no part of the package."""
