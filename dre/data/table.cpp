#include "dre/data/table.h"

#include <unordered_map>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

std::unordered_map<std::string, int64_t> positions_of(const std::vector<std::string>& columns) {
  std::unordered_map<std::string, int64_t> positions;
  for (size_t i = 0; i < columns.size(); ++i) positions.emplace(columns[i], i);
  return positions;
}

}  // namespace

int64_t Table::rows() const { return values.defined() ? values.size(0) : 0; }

Tensor select_columns(const Table& table, const std::vector<std::string>& names) {
  check(table.values.defined() && table.values.dim() == 2 &&
            table.values.size(1) == static_cast<int64_t>(table.columns.size()),
        "the table has ", table.columns.size(), " column names but not as many columns of values");
  if (names == table.columns) return table.values;
  const auto positions = positions_of(table.columns);
  std::vector<int64_t> wanted;
  std::vector<std::string> missing, texts;
  for (const auto& name : names) {
    const auto found = positions.find(name);
    if (found != positions.end())
      wanted.push_back(found->second);
    else
      (table.texts.count(name) ? texts : missing).push_back(name);
  }
  check_data(missing.empty(), "the table has no column ", listed(missing), "; its columns are ",
             listed(table.columns));
  check_data(texts.empty(), "column ", listed(texts), " was read as text, but numbers are needed");
  return table.values.index_select(1, torch::tensor(wanted, torch::kInt64));
}

}  // namespace dre
