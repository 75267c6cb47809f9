"""Every pair of a framework and a pattern, with the switches that the next experiment names: to be read by a person.

Run ``python benchmarks/experiments.py``, or with the name of a framework.
"""

import sys

from rl_advisor.detectors import patterns
from rl_advisor.judgement.settings_to_change import turns
from rl_advisor.run import Run
from rl_advisor.vocabulary.dialects import dialects


def main() -> None:
    """Print them all."""
    for framework in sys.argv[1:] or sorted(dialects()):
        for pattern in (name for name, p in patterns().items() if p.change):
            told = turns(Run(frameworks=(framework,)), pattern)
            print(f"{framework} | {pattern} | {patterns()[pattern].page['Next test']} | {'; '.join(told) or '-'}")


if __name__ == "__main__":
    main()
