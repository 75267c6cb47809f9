"""What each framework calls things: each module defines ``DIALECT``."""
