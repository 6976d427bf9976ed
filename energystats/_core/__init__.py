"""Compute with arrays in and arrays out. Nothing here checks its input or knows about results."""
