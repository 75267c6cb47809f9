"""What passes every answer: clean text, words for numbers, budgets, errors that name the choices, and files written safely."""
