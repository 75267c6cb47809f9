"""What the curves of a run did: the true course behind a noisy curve, and what can be said of it with which probability."""
