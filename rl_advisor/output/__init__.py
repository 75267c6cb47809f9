"""What passes every answer: clean text, words for numbers, budgets, errors that name the choices, and files written safely."""

from typing import Any

Answer = dict[str, Any]
"""An answer, or a part of one: plain JSON, its values by name."""
