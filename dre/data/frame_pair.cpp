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
  int64_t following = rule.rows() - rule.missing();
  std::vector<size_t> exceptions;
  for (size_t row = 0; row < column.codes.size(); ++row) {
    if (column.codes[row] < 0) continue;
    if (follows[static_cast<size_t>(column.codes[row])])
      ++following;
    else
      exceptions.push_back(row);
  }
  if (exceptions.empty()) return;
  const auto code = static_cast<size_t>(column.codes[exceptions[0]]);
  refuse_exceptions({file, mixed.file_rows[exceptions[0]], 0, column.name}, column.levels[code],
                    rule.kind == Kind::date ? "a date" : "a number", following,
                    static_cast<int64_t>(exceptions.size()), advice);
}

}  // namespace dre
