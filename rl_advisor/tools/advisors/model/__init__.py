"""What every advisor that drives a language model shares: the tools it may call, the loop, the accounting and the signature."""
