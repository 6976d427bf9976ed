# Times R's `energy` (and `cluster`) on the data of the benchmark: Rscript peers.R test|cluster|gower data.csv ...
args <- commandArgs(TRUE)
suppressPackageStartupMessages(if (args[1] == "gower") library(cluster) else library(energy))
x <- as.matrix(read.csv(args[2], header = FALSE))
if (args[1] == "test") {
  sizes <- as.integer(args[3:4]); R <- as.integer(args[5])
  t <- system.time(r <- eqdist.etest(x, sizes, R = R))[["elapsed"]]
  cat(t, r$statistic, r$p.value, "\n")
} else if (args[1] == "gower") {
  table <- as.data.frame(x)
  for (j in 4:5) table[[j]] <- factor(table[[j]], ordered = TRUE)
  for (j in 6:8) table[[j]] <- factor(table[[j]])
  invisible(daisy(table, metric = "gower"))
  times <- replicate(5, system.time(r <<- daisy(table, metric = "gower"))[["elapsed"]])
  cat(median(times), sprintf("%.6f", sum(r)), "\n")
} else {
  k <- as.integer(args[3]); starts <- as.integer(args[4])
  t <- system.time(r <- kgroups(x, k, iter.max = 100, nstart = starts))[["elapsed"]]
  cat(t, sprintf("%.10f", r$W), "\n")
}
