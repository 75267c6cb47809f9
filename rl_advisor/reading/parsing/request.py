"""What a caller wants of a file: which of its runs, and what the columns of its samples mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """What is asked of a format beside the path."""

    run: str = ""
    """The run to read of a file that holds several; '' for the largest."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What the caller says of columns of samples: our name -> theirs; it goes before what is known or guessed of them."""

    last_resort: bool = False
    """Nothing else in the path could be read: whatever holds numbers in an order may be a run."""


WHOLE = Request()
"""Nothing in particular."""
