"""Real runs of strangers as numbers: who they belong to, what they measured, what readers said of them. See README.md."""
