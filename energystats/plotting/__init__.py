"""Pictures of the results; imported inside `.plot()` only."""
