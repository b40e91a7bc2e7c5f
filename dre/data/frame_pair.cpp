#include "dre/data/frame_pair.h"

#include <cmath>
#include <set>
#include <vector>

#include "dre/data/cell.h"
#include "dre/data/date.h"
#include "dre/data/exceptions.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;

bool has_few_values(const TypedColumn& column) {
  std::set<double> values;
  for (const double value : column.numbers) {
    if (!std::isnan(value)) values.insert(value);
    if (values.size() > few_levels) return false;
  }
  return true;
}

bool is_of(Kind kind, const std::string& cell) {
  if (kind == Kind::date) return parse_date(cell).has_value();
  return parse_cell(cell).kind == Cell::Kind::number;
}

}  // namespace

void refuse_exceptions_in(const std::string& file, const Frame& mixed, const Frame& plain,
                          size_t at, const Advice& advice) {
  const TypedColumn &column = mixed.columns[at], &rule = plain.columns[at];
  if (column.kind != Kind::category || rule.kind == Kind::category) return;
  if (column.id_like || has_few_values(rule)) return;
  std::vector<bool> follows;
  for (const auto& level : column.levels) follows.push_back(is_of(rule.kind, level));
  int64_t following = 0;
  std::set<int32_t> different;
  Exceptions exceptions{{file, 0, 0, column.name}, {}};
  for (size_t row = 0; row < column.codes.size(); ++row) {
    const int32_t code = column.codes[row];
    if (code < 0) continue;
    const auto level = static_cast<size_t>(code);
    if (follows[level]) {
      ++following;
      continue;
    }
    if (exceptions.count++ == 0) {
      exceptions.first.row = mixed.file_rows[row];
      exceptions.cell = column.levels[level];
    }
    different.insert(code);
  }
  // Words alone are a column of another kind.
  exceptions.different = following > 0 ? different.size() : few_marks + 1;
  refuse_exceptions(exceptions, rule.kind == Kind::date ? "a date" : "a number",
                    following + rule.rows() - rule.missing(), advice);
}

}  // namespace dre
