"""TensorBoard event files: from bytes to the points of every tag, records that are written alike at once, going on behind damage."""
