#include "sotto/report/detail/html_page.hpp"

#include <fmt/format.h>

#include "sotto/report/svg_plot.hpp"

namespace sotto {

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string list;
  for (const auto& [key, value] : facts)
    list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(key), escape_markup(value));
  return fmt::format("<dl>\n{}</dl>\n", list);
}

std::string html_page(const std::string& title, const std::string& alarm, const std::string& body) {
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark; --paper: #fff; --ink: #222; --line: #ddd; --loud: #b3261e; --wash: #fdecea }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #16181d; --ink: #ddd; --line: #333; --loud: #ff8a80; --wash: #331a1a }} }}
body {{ font: 16px/1.5 "DejaVu Sans", Verdana, sans-serif; margin: 2rem auto; max-width: 760px; padding: 0 1rem; background: var(--paper); color: var(--ink) }}
.alarm {{ font-size: 1.7rem; font-weight: bold; line-height: 1.3; color: var(--loud); background: var(--wash); border-left: 6px solid var(--loud); padding: .8rem 1.2rem }}
svg {{ width: 100%; height: auto }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }}
th, td {{ text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }}
th:first-child, td:first-child {{ text-align: left }}
dt {{ font-weight: bold }} dd {{ margin: 0 0 .6rem }}
</style>
</head>
<body>
<h1>{0}</h1>
<p class="alarm">{1}</p>
{2}</body>
</html>
)",
                     escape_markup(title), escape_markup(alarm), body);
}

}  // namespace sotto
