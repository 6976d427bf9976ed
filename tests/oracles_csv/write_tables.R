#!/usr/bin/env Rscript
# Writes the data frames of R's packages as write.csv, write.csv2 and write.table do, and what R reads back of each:
#   Rscript write_tables.R FOLDER [TABLE ...]            (datasets, MASS, vegan, ade4, cluster, boot, lattice, ...)
# Beside every file stands FILE.json with the columns as R's read.csv, read.csv2 or read.table returns them, NA as null,
# numbers with 17 digits.
suppressPackageStartupMessages(library(jsonlite))
packages <- c("datasets", "MASS", "vegan", "ade4", "cluster", "boot", "lattice", "nlme", "survival", "rpart", "mgcv")
arguments <- commandArgs(TRUE)
folder <- arguments[1]
wanted <- arguments[-1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

kind <- function(x) if (is.numeric(x)) "number" else if (is.logical(x)) "logical" else "text"
column <- function(x) {
  values <- if (is.numeric(x)) ifelse(is.na(x), NA, format(x, digits = 17, trim = TRUE, scientific = TRUE)) else as.character(x)
  list(kind = unbox(kind(x)), values = values)
}
ways <- list(
  csv = list(write = function(d, f) write.csv(d, f), read = function(f) read.csv(f, row.names = 1, check.names = FALSE)),
  csv_plain = list(write = function(d, f) write.csv(d, f, row.names = FALSE), read = function(f) read.csv(f, check.names = FALSE)),
  csv2 = list(write = function(d, f) write.csv2(d, f), read = function(f) read.csv2(f, row.names = 1, check.names = FALSE)),
  csv2_plain = list(write = function(d, f) write.csv2(d, f, row.names = FALSE), read = function(f) read.csv2(f, check.names = FALSE)),
  blanks = list(write = function(d, f) write.table(d, f), read = function(f) read.table(f, header = TRUE, check.names = FALSE)),
  tabs = list(write = function(d, f) write.table(d, f, sep = "\t"), read = function(f) read.delim(f, check.names = FALSE)),
  tabs_plain = list(write = function(d, f) write.table(d, f, sep = "\t", row.names = FALSE),
                    read = function(f) read.delim(f, check.names = FALSE))
)
flat <- function(d) is.data.frame(d) && nrow(d) >= 2 && ncol(d) >= 1 &&
  all(vapply(d, function(x) is.null(dim(x)) && !is.list(x) && !is.complex(x), TRUE))
for (package in packages) for (name in sub(" .*", "", data(package = package)$results[, "Item"])) {
  if (length(wanted) && !(name %in% wanted)) next
  scope <- new.env()
  d <- try(suppressWarnings({ data(list = name, package = package, envir = scope); get(name, scope) }), silent = TRUE)
  if (inherits(d, "try-error") || !flat(d) || nrow(d) > 20000) next
  d <- as.data.frame(d)
  for (way in names(ways)) {
    file <- file.path(folder, paste(package, name, way, sep = "."))
    ways[[way]]$write(d, file)
    back <- try(suppressWarnings(ways[[way]]$read(file)), silent = TRUE)
    if (inherits(back, "try-error")) back <- NULL
    answer <- list(
      package = unbox(package), table = unbox(name), way = unbox(way),
      names = names(back), rows = if (is.null(back)) NULL else row.names(back), columns = unname(lapply(back, column))
    )
    write_json(answer, paste0(file, ".json"), na = "null", null = "null", digits = NA)
  }
}
