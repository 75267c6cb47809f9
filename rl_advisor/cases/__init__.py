"""The case file: what was believed of a run with which odds, the one experiment, and what the run that followed said of it.

A practitioner predicts before looking. ``begin`` writes the prediction down, ``note`` what a person adds, ``settle`` judges a later run
against it: confirmed, refuted, open, or not tested. Each case is one JSON file (the truth) and one Markdown page made from it.
"""
