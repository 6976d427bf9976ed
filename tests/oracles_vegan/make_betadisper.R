# Distances from the centres of groups by vegan's betadisper: Rscript make_betadisper.R > betadisper.json
suppressMessages({ library(vegan); library(jsonlite) })
data(dune); data(dune.env); data(varespec); data(mite)
cases <- list(
  iris = list(d = dist(iris[, 1:4]), g = iris$Species),
  dune = list(d = vegdist(dune), g = dune.env$Management),
  varespec = list(d = vegdist(varespec), g = factor(rep(c("grazed", "ungrazed"), c(16, 8)))),
  mite = list(d = vegdist(mite[1:30, ], "jaccard"), g = factor(rep(c("a", "b", "c"), c(5, 10, 15))))
)
found <- lapply(cases, function(case) {
  values <- list()
  for (type in c("median", "centroid")) for (adjust in c(TRUE, FALSE)) {
    b <- suppressWarnings(betadisper(case$d, case$g, type = type, bias.adjust = adjust))
    values[[paste0(type, if (adjust) "" else " (plain)")]] <- list(
      call = sprintf("betadisper(d, g, type = \"%s\", bias.adjust = %s)", type, adjust),
      F = anova(b)$`F value`[1], distances = unname(b$distances), group_distances = as.list(b$group.distances))
  }
  # those of 150 points are made anew by the tests
  given <- if (length(case$g) > 100) NULL else unname(as.matrix(case$d))
  list(distances = given, groups = as.character(case$g), values = values)
})
cat(toJSON(c(list(version = as.character(packageVersion("vegan"))), found), digits = 15, auto_unbox = TRUE))
