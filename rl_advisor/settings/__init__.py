"""What a run was started with: its settings under one set of names, its evaluation protocol, and the checks of both."""
