/// What is noticed about rows and columns of tables, as a user should know it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dre/base/warning.h"
#include "dre/data/copies.h"
#include "dre/data/encoding_plan.h"

namespace dre {

/// What was noticed while a table was encoded.
std::vector<Warning> encoding_warnings(const EncodingPlan& plan);

/// A random sample of the rows is used. table: "a.csv"; empty where there is only one.
Warning warning_of_sample(int64_t rows, int64_t rows_read, const std::string& table = "");

/// Nothing where no rows repeat. consequence: of copies, for them or for the numbers of the job.
std::optional<Warning> warning_of_repeats(const Repeats& found, const std::string& consequence,
                                          const std::string& table = "");

/// "column a is" or "columns a, b are".
std::string columns_are(const std::vector<std::string>& names);

/// What columns without a common value do to the others.
std::string tells_apart(const std::vector<std::string>& names);

/// How to write columns that look like formatted numbers; nothing where there are none.
std::string format_hint(const std::vector<std::string>& names);

}  // namespace dre
