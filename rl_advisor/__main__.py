"""``python -m rl_advisor``: the same as the command ``rl-advisor``."""

from rl_advisor.cli.commands import main

if __name__ == "__main__":
    main(prog_name="rl-advisor")
