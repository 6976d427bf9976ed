# Times R's packages on the data of the benchmark: Rscript peers.R test|cluster|gap|hclust|euclidize|gower data.csv ...
args <- commandArgs(TRUE)
x <- as.matrix(read.csv(args[2], header = FALSE))
if (args[1] == "test") {
  library(energy)
  sizes <- as.integer(args[3:4]); R <- as.integer(args[5])
  t <- system.time(r <- eqdist.etest(x, sizes, R = R))[["elapsed"]]
  cat(t, r$statistic, r$p.value, "\n")
} else if (args[1] == "euclidize") {
  library(ade4)
  d <- as.dist(x)
  l <- system.time(r <- lingoes(d, print = FALSE, cor.zero = FALSE))[["elapsed"]]
  sigma <- ((r^2 - d^2) / 2)[1]
  k <- system.time(r <- cailliez(d, print = FALSE, cor.zero = FALSE))[["elapsed"]]
  cat(l, sprintf("%.12g", sigma), k, sprintf("%.12g", (r - d)[1]), system.time(ape::pcoa(d))[["elapsed"]], "\n")
} else if (args[1] == "hclust") {
  library(energy)
  t <- system.time(r <- energy.hclust(dist(x)))[["elapsed"]]
  cat(t, sprintf("%.10f", max(r$height)), "\n")
} else if (args[1] == "kkmeans") {
  suppressPackageStartupMessages(library(kernlab))
  k <- as.integer(args[3]); starts <- as.integer(args[4]); sigma <- as.numeric(args[5])
  set.seed(1)
  one <- function(i) tryCatch(as.integer(kkmeans(x, k, kernel = "rbfdot", kpar = list(sigma = sigma))), error = function(e) rep(1L, nrow(x)))
  t <- system.time(labels <- sapply(seq_len(starts), one))[["elapsed"]]
  cat(t, labels, "\n")
} else if (args[1] == "gap") {
  library(cluster)
  set.seed(1)
  t <- system.time(r <- clusGap(x, kmeans, K.max = as.integer(args[3]), B = as.integer(args[4]), nstart = 10, verbose = FALSE))[["elapsed"]]
  cat(t, maxSE(r$Tab[, "gap"], r$Tab[, "SE.sim"], method = "Tibs2001SEmax"), "\n")
} else if (args[1] == "gower") {
  library(cluster)
  table <- as.data.frame(x)
  for (j in 4:5) table[[j]] <- factor(table[[j]], ordered = TRUE)
  for (j in 6:8) table[[j]] <- factor(table[[j]])
  invisible(daisy(table, metric = "gower"))
  times <- replicate(5, system.time(r <<- daisy(table, metric = "gower"))[["elapsed"]])
  cat(median(times), sprintf("%.6f", sum(r)), "\n")
} else {
  library(energy)
  k <- as.integer(args[3]); starts <- as.integer(args[4])
  t <- system.time(r <- kgroups(x, k, iter.max = 100, nstart = starts))[["elapsed"]]
  cat(t, sprintf("%.10f", r$W), "\n")
}
