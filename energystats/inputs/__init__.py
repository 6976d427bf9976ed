"""Inputs that a user may give, read and checked once."""
