"""What the model wrote: measured, compared with its own beginning, and chosen to be read."""
