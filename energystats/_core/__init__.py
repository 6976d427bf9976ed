"""Numerics: arrays in, arrays out. Nothing here checks its input or knows about results."""
