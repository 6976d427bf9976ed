"""Clustering by energy: one method a file, and the search that runs them."""
