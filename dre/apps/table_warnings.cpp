#include "dre/apps/table_warnings.h"

#include <algorithm>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

/// Columns with levels in another encoding, as Latin-1.
Strings not_utf8(const Encoding& encoding) {
  Strings out;
  for (const auto& raw : encoding.raw())
    if (!std::all_of(raw.levels.begin(), raw.levels.end(), is_utf8)) out.push_back(raw.name);
  return out;
}

std::string rows_of(const std::string& table) {
  return table.empty() ? " rows" : text(" rows of ", table);
}

}  // namespace

std::string columns_are(const Strings& names) {
  return text(names.size() == 1 ? "column " : "columns ", listed(names),
              names.size() == 1 ? " is" : " are");
}

std::string tells_apart(const Strings& names) {
  return text(names.size() == 1 ? ": it alone tells" : ": each alone tells",
              " all rows apart, and what follows is about the other columns");
}

std::string format_hint(const Strings& names) {
  if (names.empty()) return "";
  return text("; ", listed(names),
              " could be numbers or dates: write them as 1234.5 and 2021-07-13 to have them used");
}

std::vector<Warning> encoding_warnings(const EncodingPlan& plan) {
  std::vector<Warning> warnings;
  const auto leave_out = [&](const Strings& names, const char* code, const char* why,
                             const std::string& hint = "") {
    if (names.empty()) return;
    warnings.push_back({code, text(columns_are(names), " ", why, " and left out", hint)});
  };
  const auto warn = [&](const Strings& names, const char* code, const auto&... parts) {
    if (!names.empty()) warnings.push_back({code, text(parts...)});
  };
  leave_out(plan.all_missing, "all-missing-column", "without any value");
  leave_out(plan.constant_text, "constant-column", "constant");
  leave_out(plan.id_like, "id-like-column", "different in nearly every row",
            format_hint(plan.formatted));
  warn(plan.formatted_levels, "formatted-numbers", columns_are(plan.formatted_levels),
       " taken as categories", format_hint(plan.formatted_levels), " as such");
  warn(plan.rounded, "rounded-numbers", "the numbers of ", listed(plan.rounded),
       " differ in their last digits only, of which about 16 are kept: write them from a nearer "
       "origin, as seconds since the start");
  warn(not_utf8(plan.encoding), "not-utf8", "the text of ", listed(not_utf8(plan.encoding)),
       " is not all UTF-8: where the files are written differently, one word counts as two; save "
       "them as UTF-8");
  leave_out(plan.rare_levels, "rare-levels", "of so many levels that none has five rows");
  leave_out(plan.only_on_one_side, "one-sided-missing",
            "always missing on one side, never on the other,");
  leave_out(plan.never_equal, "one-sided-column",
            "constant on one side, with a value that the other never has,",
            tells_apart(plan.never_equal));
  leave_out(plan.kinds_differ, "one-sided-column",
            "of numbers or dates on one side and of text on the other, without a common value,",
            tells_apart(plan.kinds_differ));
  warn(plan.missing_on_one_side, "one-sided-missing", columns_are(plan.missing_on_one_side),
       " without any value on one side only: nothing there can be compared, and rows with a value "
       "have no counterpart");
  warn(plan.one_sided_levels, "one-sided-category", "only one of the sides has rows with ",
       listed(plan.one_sided_levels),
       ": the ratio there is infinite, zero or far from 1; leave out (--drop) what groups rows, "
       "such as orders");
  warn(plan.pooled, "pooled-levels", "rare levels are taken as one: ", listed(plan.pooled),
       "; what sets them apart is not seen");
  return warnings;
}

Warning warning_of_sample(int64_t rows, int64_t rows_read, const std::string& table) {
  return {"sampled-rows", text("a random sample of ", rows, " of the ", rows_read, rows_of(table),
                               " is used; --max-rows sets how many")};
}

std::optional<Warning> warning_of_repeats(const Repeats& found, const std::string& consequence,
                                          const std::string& table) {
  if (const auto& copies = found.copies)
    return Warning{"copied-rows",
                   text(copies->rows() - copies->different(), " of the ", copies->rows(),
                        rows_of(table), " are exact copies of others", consequence)};
  if (found.times <= 1) return std::nullopt;
  return Warning{
      "repeated-rows",
      text("every row of ", table.empty() ? "the table" : table, " is there ", found.times,
           " times or a multiple of that, which is right in a design; where "
           "the table was repeated, everything looks surer than it is: give it once")};
}

}  // namespace dre
