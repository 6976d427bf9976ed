"""`python -m energystats`, the same as the command `energystats`."""

from energystats.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
