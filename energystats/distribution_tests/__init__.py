"""Tests of equal distributions and of fit: one question a file, its result beside it."""
