"""Run the command `energystats` as `python -m energystats`."""

from energystats.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
