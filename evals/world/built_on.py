"""Says of the runs of language models of which it is not known what trained them: ``python -m evals.world.built_on GIT_DIRECTORY...``.

A git directory is a copy named ``OWNER+NAME/…``, as ``evals.world.gather`` takes it; the library is the one that most of its files import.
"""

import sys
from pathlib import Path

from evals.world.gather import built_on, git_of, owner_of
from evals.world.table import RUNS, store, worlds


def main(directories: list[Path]) -> None:
    """Writes it into the table, and says it."""
    copies = {owner_of(directory).replace("__", "/", 1): git_of(directory) for directory in directories}
    unknown = [w for w in worlds() if w.language and not w.told["built_on"] and w.repository in copies]
    libraries = {repository: built_on(copies[repository]) for repository in {w.repository for w in unknown}}
    said = [w.told | {"built_on": libraries[w.repository]} for w in unknown if libraries[w.repository]]
    for repository, library in sorted(libraries.items()):
        print(f"{library or '-':15} {repository}")
    print(store(said, [row for w in unknown if libraries[w.repository] for row in w.curves]), RUNS.name)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
