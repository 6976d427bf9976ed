# Breaks of many samples by ecp's e.divisive: Rscript ecp.R data.csv ROWS MIN.SIZE R
# data.csv has the samples one below the other, ROWS each. One line a sample: p of the first break, its place from 0,
# and the places at which all segments start; then the seconds of processor time that all of them took.
suppressPackageStartupMessages(library(ecp))
args <- commandArgs(TRUE)
x <- as.matrix(read.csv(args[1], header = FALSE))
n <- as.integer(args[2])
taken <- 0
for (i in seq_len(nrow(x) / n)) {
  set.seed(i)
  X <- x[(i - 1) * n + seq_len(n), , drop = FALSE]
  taken <- taken + sum(system.time(
    e <- e.divisive(X, sig.lvl = .05, R = as.integer(args[4]), min.size = as.integer(args[3]), alpha = 1)
  )[1:2])
  first <- if (length(e$order.found) > 2) e$order.found[3] else e$considered.last
  cat(e$p.values[1], first - 1, head(e$estimates, -1) - 1, "\n")
}
cat(taken, "\n")
