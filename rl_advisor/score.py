"""The command ``eval``: an advisor, or answers made elsewhere, scored on labelled runs."""

from collections.abc import Sequence
from typing import Any

from rl_advisor import folders
from rl_advisor.mistakes import NoSuchChoice
from rl_advisor.output import clean


def score(corpus: str | None, answers: str | None, cuts: Sequence[float], advisor: str, rows: bool = False) -> dict[str, Any]:
    """The scores of an advisor, or of the answers file, on a corpus.

    Raises:
        NoSuchChoice: no corpus is named, or it has no labels, or it has none at a cut.
    """
    from rl_advisor.evals.harness import evaluate, score_answers
    from rl_advisor.tools import advisor_named

    if corpus is None:
        raise NoSuchChoice("eval needs a corpus: a folder with runs/ and labels.json")
    folder = folders.existing(corpus)
    if not (folder / "labels.json").is_file():
        raise NoSuchChoice(f"{folder} is no corpus: it lacks labels.json beside runs/")
    try:
        if answers is not None:
            return clean(score_answers(folder, folders.existing(answers), rows=rows))  # type: ignore[no-any-return]
        assess = advisor_named(advisor).assess
        return clean(evaluate(folder, assess, tuple(cuts), rows=rows))  # type: ignore[no-any-return]
    except ValueError as wrong:
        raise NoSuchChoice(str(wrong)) from wrong
