"""How often the reason of a failed episode is told right on other people's episodes, read and labelled by hand.

``python benchmarks/read_episodes.py FOLDER [--errors]``: FOLDER holds the files that ``read_episodes.jsonl`` beside this program names
(``file``; where they come from: ``repo``, ``commit``, ``path``), as their owners left them; what is not there is not counted. Prints
macro F1 over the reasons that readers gave at least three times, for the shapes that the code was mended on and for those held out, and
how often the first bad turn is told within one. ``--errors`` lists the confusions, of the shapes not held out only. The labels hold no
word of anybody's: id, reason and turn by one reader, and where there was a second reading also by that (``lot`` 3: by another reader,
half of its shapes held out by lot; ``other``: reason and turn by that reader, of 120 of the first 401).
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

Told = dict[str, tuple[str, int | None, int | None]]
FEWEST = 3
_LOTS = ("first shapes", "later shapes", "third lot", "fourth lot")
PARTS = (*_LOTS, *(f"{lot}, held out" for lot in _LOTS))
TWO = "where two readers agree"
WORDS = {"tool_misuse": "tool misuse", "gave_up": "gave up", "wrong_answer": "wrong answer", "context": "context overflow", "success": ""}
"""The readers' words -> the program's; an episode that it does not call failed has the reason ''."""


@cache
def _told(path: Path) -> Told | None:
    """What is told of every episode of a file, by its key or number: the reason and the turn that went wrong, of the model's and of all."""
    from rl_advisor.reading import UnreadableRun, read_run
    from rl_advisor.samples.episodes import judged, turns_of
    from rl_advisor.samples.rows import written

    try:
        rows = written(read_run(path).rollouts)
    except UnreadableRun:
        return None
    if not len(rows):
        return None
    keys = [str(row.get("key", row.get("row", i))) for i, row in enumerate(rows.to_dict("records"))]
    found = judged(rows)
    turns = turns_of(rows)
    answer: list[tuple[str, int | None, int | None]] = [("", None, None)] * len(keys)
    for i, reason, turn in zip(found.index, found["reason"], found["turn"], strict=True):
        at = int(turn) if turn >= 0 else len(turns[i]) - 1
        answer[i] = (str(reason), _of_model(turns[i], at), at + 1)
    lines = dict(zip((f"line {n}" for n in rows["row"]), answer, strict=True)) if rows["row"].is_unique and path.suffix == ".jsonl" else {}
    return {**{f"{i} of {len(keys)}": told for i, told in enumerate(answer)}, **dict(zip(keys, answer, strict=True)), **lines}


def _asked(found: Told, label: dict[str, Any]) -> tuple[str, int | None, int | None]:
    """What is told of one labelled episode, by its name or number.

    Since the third lot a number counts only if all of the file were read, or if lines were left out that hold no episode.
    """
    places = [str(label["row"])]
    if "of" in label:
        places = [name for name in [label.get("key", "")] if name and not name.isdigit()] + [f"{label['row']} of {label['of']}"]
        places += [f"line {label['row']}"] if len(found) < 2 * label["of"] else []
    return next((found[place] for place in places if place in found), ("unread", None, None))


def _of_model(turns: Any, at: int) -> int:
    """The number among the model's own turns (one each for words and calls) of the one that a turn belongs to."""
    return max(1, sum(bool(t.text.strip()) + len(t.calls) if len(t.calls) > 1 else 1 for t in turns[: at + 1] if t.role == "assistant"))


def f1s(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """F1 of every reason that readers gave often enough."""
    often = Counter(a for a, _ in pairs if a)
    both = {label: sum(a == b == label for a, b in pairs) for label in often}
    return {k: 2 * both[k] / (n + sum(b == k for _, b in pairs)) for k, n in often.items() if n >= FEWEST}


def measured(folder: Path) -> dict[str, Any]:
    """For the shapes mended on and those held out: the pairs (read, told), by shape, and of first bad turns how far they are off."""
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in PARTS}
    shapes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    near: dict[str, list[bool]] = {name: [] for name in (*PARTS, TWO)}
    wrong: list[tuple[str, str, str]] = []
    for label in map(json.loads, Path(__file__).with_suffix(".jsonl").read_text().splitlines()):
        if not (folder / label["file"]).exists():
            continue
        part = PARTS[len(_LOTS) * label["held"] + label.get("lot", 1 + ("later" in label)) - 1]
        told, turn, every = _asked(_told(folder / label["file"]) or {}, label)
        turn = every if label.get("every") else turn
        read = WORDS.get(label["reason"], label["reason"])
        if read == "cannot_tell":  # neither right nor wrong; but a cause that lies outside the model may not be told
            shapes[label["shape"]] += [("", "infrastructure")] * (told == "infrastructure")
            continue
        pairs[part].append((read, told))
        shapes[label["shape"]].append((read, told))
        agreed = label.get("reason2", label["reason"]) == label["reason"] and abs(label.get("bad2", label["bad"]) - label["bad"]) <= 1
        if read and agreed:
            near[part].append(turn is not None and abs(turn - label["bad"]) <= 1)
            if label.get("other", ["", 0])[0] == label["reason"] and abs(label["other"][1] - label["bad"]) <= 1:
                near[TWO].append(near[part][-1])
        if read != told and not label["held"]:
            wrong.append((label["id"], read, told))
    return {"pairs": pairs, "shapes": dict(shapes), "near": near, "wrong": wrong}


def main(folder: str, *more: str) -> None:
    """Print the figures."""
    found = measured(Path(folder))
    for part in PARTS:
        pairs, near = found["pairs"][part], found["near"][part]
        scores = f1s(pairs)
        shown = "" if "held" in part else f" { ({k: round(v, 2) for k, v in sorted(scores.items())}) }"
        false = sum(b == "infrastructure" != a for a, b in pairs)
        print(
            f"{part}: {len(pairs)} episodes, {sum(b == 'unread' for _, b in pairs)} unread, macro F1 "
            f"{sum(scores.values()) / max(1, len(scores)):.3f}, right {sum(a == b for a, b in pairs) / max(1, len(pairs)):.3f}, "
            f"falsely infrastructure {false}, first bad turn within one {sum(near)} of {len(near)}{shown}"
        )
    print(f"{TWO}: first bad turn within one {sum(found['near'][TWO])} of {len(found['near'][TWO])}")
    for shape, pairs in found["shapes"].items():
        print(f"  {shape}: right {sum(a == b for a, b in pairs)} of {len(pairs)}")
    if "--errors" in more:
        print(Counter((a, b) for _, a, b in found["wrong"]).most_common())
        print(*found["wrong"], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
