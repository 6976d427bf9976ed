"""How numbers, tables and results are written."""
