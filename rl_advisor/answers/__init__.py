"""The answers that every door gives: inventory, curves, samples, comparisons, findings in full, the story, the brief form."""
