"""The command line: `energystats demo`, `cluster`, `test`, `disco` and `euclidize`.

Bad input is one line on standard error and exit status 2. Output files are complete or absent.
"""

from energystats.cli.program import main

__all__ = ["main"]
