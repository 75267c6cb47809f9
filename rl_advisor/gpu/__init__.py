"""What the GPUs did: signals on one clock, phases of the step, idle time, and what a set-up needs."""
