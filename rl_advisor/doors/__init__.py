"""What the command line, the server and the reports share: clean output, token budgets, answers, files on disk."""
