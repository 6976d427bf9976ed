#!/usr/bin/env Rscript
# Regenerates daisy.json:   Rscript make_reference.R [output folder]      (R >= 4.2 with cluster and jsonlite)
# Each case keeps its table, the call of cluster::daisy as it was run, and the dissimilarities of the pairs
# (1,2), (1,3), ..., (n-1,n), with the versions; NA values are null.
suppressPackageStartupMessages({ library(cluster); library(jsonlite) })
out <- c(commandArgs(TRUE), ".")[1]
set.seed(1971)
n <- 14
grades <- c("low", "middle", "high", "top")
mixed <- data.frame(
  length = round(rnorm(n, 100, 20), 2),
  count  = rpois(n, 4) + 0,
  grade  = factor(sample(grades[1:3], n, TRUE), levels = grades, ordered = TRUE),     # nobody is "top"
  gap    = factor(sample(c("a", "c"), n, TRUE), levels = c("a", "b", "c"), ordered = TRUE),  # nobody is "b"
  colour = factor(sample(c("red", "green", "blue"), n, TRUE)),
  wears  = sample(c(TRUE, FALSE), n, TRUE)
)
holes <- mixed
for (j in 1:4) holes[sample(n, 3), j] <- NA
apart <- mixed                                      # rows 1 and 3 have no column in common
apart[1, 1:3] <- NA
apart[3, 4:6] <- NA
constant <- transform(mixed, same = 7)
presence <- data.frame(size = round(rexp(n), 3), matrix(rbinom(5 * n, 1, 0.3), n, dimnames = list(NULL, paste0("p", 1:5))))
presence$p1[1:2] <- 0:1
gappy <- presence
for (j in 2:6) gappy[sample(3:n, 2), j] <- NA
extreme <- data.frame(far = 1e9 + (1:n) * 0.125, tiny = (n:1)^2 * 1e-12, flag = factor(rep(c("0", "1"), n / 2)))

column <- function(x) {
  if (is.ordered(x)) return(list(kind = unbox("ordered"), values = as.character(x), levels = levels(x)))
  if (is.factor(x)) return(list(kind = unbox("categorical"), values = as.character(x), levels = levels(x)))
  if (is.logical(x)) return(list(kind = unbox("boolean"), values = x))
  list(kind = unbox("numeric"), values = x)
}
case <- function(data, call, asymmetric = character(), weights = NULL) {
  d <- suppressWarnings(eval(call))
  list(call = unbox(paste(deparse(call, width.cutoff = 500), collapse = " ")), asymmetric = asymmetric,
       weights = weights, columns = lapply(data, column), d = as.vector(d))
}
w6 <- c(2, 1, 0.5, 3, 1, 1.5)
cases <- list(
  mixed = case(mixed, quote(daisy(mixed, metric = "gower", type = list(symm = "wears")))),
  weights = case(mixed, quote(daisy(mixed, metric = "gower", type = list(symm = "wears"), weights = w6)), weights = w6),
  missing = case(holes, quote(daisy(holes, metric = "gower", type = list(symm = "wears")))),
  apart = case(apart, quote(daisy(apart, metric = "gower", type = list(symm = "wears")))),
  constant = case(constant, quote(daisy(constant, metric = "gower", type = list(symm = "wears")))),
  asymmetric = case(presence, quote(daisy(presence, metric = "gower", type = list(asymm = paste0("p", 1:5)))), paste0("p", 1:5)),
  logical = case(mixed, quote(daisy(mixed, metric = "gower")), "wears"),   # daisy's default for truth values
  everything = case(gappy, quote(daisy(gappy, metric = "gower", type = list(asymm = paste0("p", 1:5)), weights = w6)),
                    paste0("p", 1:5), w6),
  numeric = case(mixed[1:2], quote(daisy(mixed[1:2], metric = "gower"))),
  extreme = case(extreme, quote(daisy(extreme, metric = "gower")))
)
record <- list(R = unbox(R.version.string), cluster = unbox(as.character(packageVersion("cluster"))),
               seed = unbox(1971), w6 = w6, cases = cases)
write(toJSON(record, digits = NA, na = "null", pretty = FALSE), file.path(out, "daisy.json"))
