"""The situations that the seed documents describe, as made runs with the answer that each must get."""
