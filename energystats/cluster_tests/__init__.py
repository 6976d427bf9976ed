"""Is there cluster structure? One method a file; `cluster_test` is the entry function."""
