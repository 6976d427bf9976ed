"""How many clusters, and how steady they are: one criterion a file; `select_k`, `cluster_stability`."""
