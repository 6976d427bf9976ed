# Least-squares segments of two series by strucchange: Rscript make_breaks.R > breaks.json
suppressMessages({ library(strucchange); library(boot); library(jsonlite) })
explosions <- table(factor(floor(coal$date), levels = 1851:1962))
series <- list(nile = list(year = as.vector(time(Nile)), value = as.vector(Nile)),
               coal = list(year = 1851:1962, value = as.vector(explosions)))
found <- lapply(series, function(s) {
  y <- s$value
  fit <- breakpoints(y ~ 1, h = 5, breaks = 5)
  n_breaks <- 1:5
  list(year = s$year, value = y, min_size = 5,
       rss = unname(summary(fit)$RSS["RSS", ]),
       last_of_segment = lapply(n_breaks, function(m) as.vector(breakpoints(fit, breaks = m)$breakpoints)))
})
cat(toJSON(c(list(strucchange = as.character(packageVersion("strucchange"))), found), digits = 15, auto_unbox = TRUE))
