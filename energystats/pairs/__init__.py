"""Compute sums over pairs of points by every route: a stored matrix, tiles, lines, files, devices and workers."""
