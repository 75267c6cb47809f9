"""Weighing findings: what broke first, which verdict, does going on pay, which checkpoint, what to try, and saying it."""
