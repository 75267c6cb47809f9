"""Measured judgement: scores any advisor on labeled runs, and the cheap rules an advisor has to beat."""
