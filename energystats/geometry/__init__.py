"""Negative type, euclidization, principal coordinates, and the kernels behind a semimetric."""
