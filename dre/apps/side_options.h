/// Where the two sides of a ratio come from: two files, or one file with a column that tells the
/// sides apart.
#pragma once

#include <string>
#include <vector>

#include "dre/apps/typed_table.h"

namespace dre {

struct SidesOptions : TableOptions {
  std::string numerator, denominator;  ///< two files, or
  std::string data;                    ///< one file
  std::string domain_column;           ///< in which this column
  std::string numerator_value;         ///< has this value in the rows of the numerator
  std::vector<std::string> columns, drop;
  std::string weight_column;

  void visit(OptionVisitor& v) {
    v("numerator", numerator, {}, "file with the rows of the numerator; - is standard input");
    v("denominator", denominator, {}, "file with the rows of the denominator");
    v("data", data, {}, "one file with the rows of both sides, instead of two");
    v("domain-column", domain_column, {}, "column of --data that tells the sides apart");
    v("numerator-value", numerator_value, {},
      "value of the domain column in the numerator's rows; 1, true and numerator need not be "
      "named");
    v("columns", columns, "use only these columns");
    v("drop", drop, "leave these columns out");
    visit_kinds(v);
    v("weight-column", weight_column, {},
      "column with the weights of the rows; a file without it has rows that count once");
    visit_rows(v, "rows a side at most; of more a random sample is kept");
  }

  bool two_files() const { return data.empty(); }

  /// The files that are read; empty names among them.
  std::vector<std::string> files() const { return {numerator, denominator, data}; }
};

}  // namespace dre
