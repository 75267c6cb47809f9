"""Runs that lie elsewhere: an address becomes a bounded copy on this machine, which is then read like any other folder."""
