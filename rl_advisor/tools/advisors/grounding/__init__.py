"""Holds a model's judgement to the log: numbers come as claims, which are checked as data; its prose stands on them or is struck."""
