#include "cli/output.h"

#include <cmath>
#include <cstdio>

#include "dre/base/error.h"
#include "dre/data/output.h"
#include "dre/data/source.h"

namespace dre::cli {

void print_result(const std::string& text) { write_result("-", text); }

void write_result(const std::string& path, const std::string& text) {
  OutputFile out(path);
  out.write(text);
  out.commit();
}

void check_page_name(const std::string& path) {
  const bool fits = path.empty() || path == "-" || is_stream(path) || has_ending(path, ".html") ||
                    has_ending(path, ".htm");
  check(fits, "--report ", path, " must end in .html: it is a page for a browser");
}

void write_page(const std::string& path, const report::Page& page, Progress& progress) {
  write_result(path, report::to_html(page));
  if (!report::has_charts())
    progress.warn("no-charts", "this build has no chart library: the page has tables only");
}

std::string with_error(const Measured& number) {
  return with_error(number.value, number.standard_error);
}

std::string short_number(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.4g", value + 0.0);  // no -0
  return digits;
}

std::string with_error(double value, double standard_error) {
  if (!std::isfinite(standard_error) || standard_error <= 0) return short_number(value);
  const int exponent = static_cast<int>(std::floor(std::log10(standard_error)));
  if (exponent > 4 || exponent < -6)
    return short_number(value) + " +- " + short_number(standard_error);
  char digits[128];
  const int decimals = std::max(0, 1 - exponent);
  std::snprintf(digits, sizeof digits, "%.*f +- %.*f", decimals, value, decimals, standard_error);
  return digits;
}

}  // namespace dre::cli
