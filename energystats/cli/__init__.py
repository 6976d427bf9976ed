"""The command line: `energystats demo`, `cluster`, `test`, `disco`, `segment` and `euclidize`.

Bad input is one line on standard error and exit status 2. Output files are complete or absent.
"""

from __future__ import annotations

from collections.abc import Sequence

from energystats._core.interrupts import uninterrupted
from energystats.cli.endings import INTERRUPTED, TERMINATED, TerminatedError, answering_signals
from energystats.cli.streams import say_error

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the command's name; those of the process when None.

    Returns
    -------
    int
        Exit status: 0, 2 for bad input, 130 after Ctrl-C, or 143 after SIGTERM.
    """
    try:
        with answering_signals() as arrived:
            try:
                with uninterrupted():  # a module that is half imported is of no use
                    from energystats.cli.program import run
                return run(arguments, arrived)
            except Exception as error:
                if arrived:  # of which it is a consequence
                    raise arrived[0] from error
                raise
    except TerminatedError:
        say_error("energystats: terminated.")
        return TERMINATED
    except KeyboardInterrupt:
        say_error("energystats: interrupted.")
        return INTERRUPTED
