"""What a run's answer tells people: typed facts of the run and its assessment, and the sentences that every door builds from them."""
