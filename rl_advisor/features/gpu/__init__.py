"""Numbers out of what GPUs logged: phases of a step and how sure they are."""
