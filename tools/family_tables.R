# Tables of packages of R as files: Rscript tools/family_tables.R FOLDER
#
# Writes NAME.csv with a header, the target last, and NAME.types with a letter for each column, n for a number and c for a
# category: what tools/family_results.py reads. The packages, as Debian calls them: r-cran-mlbench, r-cran-kernlab,
# r-cran-ggplot2, r-cran-modeldata, r-cran-dslabs, r-cran-cardata, r-cran-aer, r-cran-mlmrev, r-cran-psych, r-cran-dplyr,
# r-cran-survival, r-cran-nlme, r-cran-lme4. What is not installed is left out.
folder <- commandArgs(TRUE)[1]
if (is.na(folder)) stop("usage: Rscript tools/family_tables.R FOLDER")
dir.create(folder, showWarnings = FALSE)

table_of <- function(package, item) {
  place <- new.env()
  suppressWarnings(try(data(list = item, package = package, envir = place), silent = TRUE))
  if (exists(item, place)) as.data.frame(place[[item]]) else NULL
}

# change: what is done to the table first; drop: identifiers, and columns that say the target.
keep <- function(name, package, item, target, drop = c(), change = identity) {
  rows <- table_of(package, item)
  if (is.null(rows)) return(cat(name, "left out: no package", package, "\n"))
  rows <- change(rows)
  rows <- rows[!is.na(rows[[target]]), c(setdiff(names(rows), c(drop, target)), target)]
  types <- ""
  for (column in names(rows)) {
    cells <- rows[[column]]
    if (inherits(cells, c("Date", "POSIXct"))) cells <- as.numeric(cells)
    if (is.logical(cells)) cells <- factor(ifelse(cells, "yes", "no"))
    if (is.character(cells)) cells <- factor(cells)
    if (is.factor(cells)) levels(cells) <- gsub("[,\"]", ";", levels(cells))
    types <- paste0(types, if (is.factor(cells)) "c" else "n")
    rows[[column]] <- if (is.factor(cells)) droplevels(cells) else as.numeric(cells)
  }
  names(rows) <- gsub("[^A-Za-z0-9_]", "_", names(rows))
  write.table(rows, file.path(folder, paste0(name, ".csv")), sep = ",", row.names = FALSE, quote = FALSE, na = "")
  cat(types, file = file.path(folder, paste0(name, ".types")))
  cat(name, nrow(rows), "rows,", ncol(rows) - 1, "columns\n")
}
with_log <- function(column, by = log) function(rows) { rows[[column]] <- by(rows[[column]]); rows }
as_class <- function(column, by = identity) function(rows) { rows[[column]] <- factor(by(rows[[column]])); rows }

# Looked at while the rule was settled.
keep("ames", "modeldata", "ames", "Sale_Price", change = with_log("Sale_Price", log10))
keep("arrests", "carData", "Arrests", "released")
keep("chem97", "mlmRev", "Chem97", "score", c("school", "student"))
keep("churn_mlc", "modeldata", "mlc_churn", "churn")
keep("churn_telco", "modeldata", "wa_churn", "churn")
keep("credit", "modeldata", "credit_data", "Status")
keep("diamonds", "ggplot2", "diamonds", "price")
keep("diseases", "dslabs", "us_contagious_diseases", "count", "state", with_log("count", log1p))
keep("dna", "mlbench", "DNA", "Class")
keep("doctor", "AER", "DoctorVisits", "visits", change = as_class("visits", function(n) ifelse(n > 0, "yes", "no")))
keep("fertility", "AER", "Fertility2", "morekids")
keep("flchain", "survival", "flchain", "death", c("futime", "chapter", "sample.yr"), as_class("death"))
keep("gapminder", "dslabs", "gapminder", "life_expectancy", "country")
keep("gssvocab", "carData", "GSSvocab", "vocab", "year")
keep("hpc", "modeldata", "hpc_data", "class")
keep("income", "kernlab", "income", "INCOME")
keep("insurance", "AER", "HealthInsurance", "insurance")
keep("lending", "modeldata", "lending_club", "Class")
keep("letters", "mlbench", "LetterRecognition", "lettr")
keep("mathachieve", "nlme", "MathAchieve", "MathAch", "School")
keep("psid", "AER", "PSID7682", "wage", "id")
keep("satellite", "mlbench", "Satellite", "classes")
keep("shuttle", "mlbench", "Shuttle", "Class")
keep("smokeban", "AER", "SmokeBan", "smoker")
keep("spam", "kernlab", "spam", "type")
keep("stackoverflow", "modeldata", "stackoverflow", "Salary")
keep("star", "mlmRev", "star", "math", c("id", "sch", "tch", "read"))
keep("storms", "dplyr", "storms", "wind", c("name", "status", "category", "pressure"))
keep("txhousing", "ggplot2", "txhousing", "median", c("city", "date"), with_log("median"))
keep("verbagg", "lme4", "VerbAgg", "r2", c("item", "id", "resp"))
keep("wages", "AER", "CPSSW8", "earnings", change = with_log("earnings"))
keep("wages88", "AER", "CPS1988", "wage", change = with_log("wage"))

# Looked at afterwards.
keep("aside_beps", "carData", "BEPS", "vote")
keep("aside_bfi", "psych", "bfi", "gender", change = as_class("gender"))
keep("aside_cells", "modeldata", "cells", "class", "case")
keep("aside_chicago", "modeldata", "Chicago", "ridership")
keep("aside_chile", "carData", "Chile", "vote")
keep("aside_college", "AER", "CollegeDistance", "score")
keep("aside_college_classes", "AER", "CollegeDistance", "education", change = as_class("education", function(n) ifelse(n > 12, "yes", "no")))
keep("aside_egsingle", "mlmRev", "egsingle", "math", c("schoolid", "childid"))
keep("aside_exam", "mlmRev", "Exam", "normexam", c("school", "student"))
keep("aside_gss7402", "AER", "GSS7402", "immigrant")
keep("aside_hmda", "AER", "HMDA", "deny")
keep("aside_insteval", "lme4", "InstEval", "y", c("s", "d"))
keep("aside_inventory", "ggplot2", "txhousing", "inventory", "city")
keep("aside_movielens", "dslabs", "movielens", "rating", c("title", "genres", "userId", "movieId"))
keep("aside_nmes", "AER", "NMES1988", "visits", c("nvisits", "ovisits", "novisits"), with_log("visits", log1p))
keep("aside_nwtco", "survival", "nwtco", "rel", c("seqno", "edrel"), as_class("rel"))
keep("aside_remote", "modeldata", "stackoverflow", "Remote")
keep("aside_slid", "carData", "SLID", "wages")
keep("aside_star", "AER", "STAR", "math3", change = function(rows) rows[, !grepl("^(read|math[k12]|schoolid|experience|ladder|degree|tethnicity|system)", names(rows))])
keep("aside_stops", "carData", "MplsStops", "problem", c("idNum", "date", "MDC", "policePrecinct", "neighborhood"))
keep("aside_tic", "kernlab", "ticdata", "CARAVAN")
keep("aside_vocab", "carData", "Vocab", "vocabulary")
keep("aside_wvs", "carData", "WVS", "poverty")
