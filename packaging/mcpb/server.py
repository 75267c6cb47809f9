"""Serves the folders named on the command line."""

import sys

from rl_advisor.server import build, serve

serve(build(sys.argv[1:]))
