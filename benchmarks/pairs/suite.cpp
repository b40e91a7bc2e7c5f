#include "benchmarks/pairs/suite.h"

namespace dre::pairs {

std::vector<PairRow> pair_table() {
  std::vector<PairRow> table = two_sample_rows();
  for (const auto& more : {atom_rows(), mutual_information_rows()})
    table.insert(table.end(), more.begin(), more.end());
  return table;
}

Pair pair_by_name(const std::string& name) {
  const std::vector<PairRow> table = pair_table();
  return {name, choose("pair", table, name)()};
}

}  // namespace dre::pairs
