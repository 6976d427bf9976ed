"""Numbers of clusters, and how steady these are: one criterion a file; `select_k`, `cluster_stability`."""
