# Breaks by ecp's e.divisive and zones by rioja's chclust: Rscript make_divisive.R > divisive.json
# core.csv has the simulated core of vignettes/when-did-it-change.md, from top to bottom.
suppressMessages({ library(ecp); library(rioja); library(boot); library(jsonlite) })
explosions <- as.vector(table(factor(floor(coal$date), levels = 1851:1962)))
counts <- as.matrix(read.csv("core.csv")[, 1:5])
series <- list(nile = matrix(as.vector(Nile)), coal = matrix(explosions), core = sqrt(counts / rowSums(counts)))
evaluate <- function(call, X) eval(parse(text = call), list(X = X))
found <- lapply(names(series), function(name) {
  X <- series[[name]]
  divisive <- sprintf("e.divisive(X, sig.lvl = .05, R = 999, min.size = %d, alpha = 1)", if (name == "core") 5 else 10)
  set.seed(1)
  e <- evaluate(divisive, X)
  # its heights are T of the distances it is given: of alpha = 1, and squared, as Grimm's CONISS has them, of alpha = 2
  zones <- function(coniss) {
    tree <- evaluate(coniss, X)
    first <- function(k) which(diff(cutree(tree, k = k)) != 0)
    list(call = coniss, height = max(tree$height), breaks_by_k = lapply(2:8, function(k) I(first(k))))
  }
  list(e_divisive = list(call = divisive, first_of_segment = I(e$estimates), p = I(e$p.values), last = e$considered.last),
       coniss = lapply(c("1" = "chclust(dist(X), method = \"coniss\")", "2" = "chclust(dist(X)^2, method = \"coniss\")"), zones))
})
versions <- lapply(c(ecp = "ecp", rioja = "rioja", vegan = "vegan"), function(p) as.character(packageVersion(p)))
names(found) <- names(series)
cat(toJSON(c(list(versions = c(R = as.character(getRversion()), versions)), found), digits = 15, auto_unbox = TRUE, pretty = 1), "\n")
