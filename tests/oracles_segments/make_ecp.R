# Breaks of two series by ecp's e.divisive: Rscript make_ecp.R > ecp.json
# It has not been run: ecp could not be installed where breaks.json was made. tests/test_segments.py has the definition.
suppressMessages({ library(ecp); library(boot); library(jsonlite) })
explosions <- as.vector(table(factor(floor(coal$date), levels = 1851:1962)))
series <- list(nile = as.vector(Nile), coal = explosions)
found <- lapply(series, function(y) {
  set.seed(1)
  e <- e.divisive(matrix(y), sig.lvl = .05, R = 999, min.size = 10, alpha = 1)
  list(first_of_segment = e$estimates, p = e$p.values)
})
cat(toJSON(c(list(ecp = as.character(packageVersion("ecp"))), found), digits = 15, auto_unbox = TRUE))
