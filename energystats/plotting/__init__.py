"""The pictures of the results; imported inside `.plot()` only."""
