"""Numbers, tables and results as text."""
