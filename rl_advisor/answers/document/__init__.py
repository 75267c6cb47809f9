"""The document about runs: sections of blocks made once from what was read and judged, which every report renders in its own way."""
