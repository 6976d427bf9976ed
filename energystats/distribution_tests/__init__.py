"""Tests of equal distributions and of fit, each in a file with the class of its result."""
