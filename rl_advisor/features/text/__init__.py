"""Numbers out of what a model wrote: words, repetition, language, phrases."""
