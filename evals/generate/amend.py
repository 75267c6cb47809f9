"""Labels that became sets after two blind readings disagreed (``evals/readings/looked.json`` says why), kept as data of their own.

So the labels can be made again. A reading is only ever added.
"""

import json
from pathlib import Path

AMENDED = json.loads((Path(__file__).parent / "amended.json").read_text(encoding="utf-8"))


def amended(label: dict) -> dict:
    """The label with the readings that were added to it."""
    more = AMENDED.get(label["source"], {})
    return label | {name: sorted({*label[name], *added}) for name, added in more.items()}
