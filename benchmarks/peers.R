# Times R's `energy` on the data of the benchmark: Rscript peers.R test|cluster data.csv ...
suppressPackageStartupMessages(library(energy))
args <- commandArgs(TRUE)
x <- as.matrix(read.csv(args[2], header = FALSE))
if (args[1] == "test") {
  sizes <- as.integer(args[3:4]); R <- as.integer(args[5])
  t <- system.time(r <- eqdist.etest(x, sizes, R = R))[["elapsed"]]
  cat(t, r$statistic, r$p.value, "\n")
} else {
  k <- as.integer(args[3]); starts <- as.integer(args[4])
  t <- system.time(r <- kgroups(x, k, iter.max = 100, nstart = starts))[["elapsed"]]
  cat(t, sprintf("%.10f", r$W), "\n")
}
