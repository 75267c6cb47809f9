"""Measured judgement: scores any advisor on labeled runs."""
