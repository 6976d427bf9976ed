"""Draw the results; imported only when something is drawn."""
