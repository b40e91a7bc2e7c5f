/// Which columns of a file become numbers, which become text, and which are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/table.h"

namespace dre {

struct ColumnPlan {
  std::vector<std::string> numbers;  ///< names of the numeric columns, in the order of the table
  std::vector<std::string> texts;    ///< names of the text columns
  std::vector<int64_t> number_of;    ///< file column -> place in `numbers`, or -1
  std::vector<int64_t> text_of;      ///< file column -> place in `texts`, or -1
  std::vector<bool> keeps_words;     ///< for each of `numbers`
  std::vector<bool> exact;           ///< likewise: whole numbers are words where they are rounded
};

/// Throws a usage error where `names`, which `option` gives, has one twice.
void check_distinct(const char* option, const std::vector<std::string>& names);

/// Throws a data error where one of all columns' names is empty, doubled or not UTF-8. file: what
/// messages call the table.
void check_column_names(const std::string& file, const std::vector<std::string>& names);

/// The names given, or x0, x1, ... where there are none; a usage error where they are not one a
/// column. what: "the numerator"
std::vector<std::string> names_or_numbered(std::vector<std::string> given, int64_t columns,
                                           const std::string& letter, const std::string& what);

/// Throws a usage error where `options` contradict themselves.
void check_read_options(const ReadOptions& options);

/// `names`: all columns of the file, checked for empty, doubled and undecodable names; names in
/// `options` that the file does not have are a data error.
ColumnPlan plan_columns(const std::string& file, const std::vector<std::string>& names,
                        const ReadOptions& options);

/// Rows that are being gathered.
struct Block {
  explicit Block(const ColumnPlan& plan) : texts(plan.texts.size()), words(plan.numbers.size()) {}

  std::vector<double> numbers;                  ///< row by row
  std::vector<std::vector<std::string>> texts;  ///< column by column
  std::vector<std::vector<Word>> words;         ///< of the numeric columns
  int64_t rows = 0;

  Table table(const ColumnPlan& plan) &&;
};

/// The data errors of the one policy for odd cells.
[[noreturn]] void refuse_missing(const Place& place, const Advice& advice);
[[noreturn]] void refuse_infinite(const Place& place, const std::string& cell,
                                  const Advice& advice);

}  // namespace dre
