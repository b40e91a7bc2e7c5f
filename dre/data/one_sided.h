/// Levels of a category that only one side has, where chance would not bring that about.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace dre {

/// How often a level occurs on each side.
struct LevelCount {
  int64_t numerator = 0, denominator = 0;
  int64_t both() const { return numerator + denominator; }
  bool one_sided() const { return numerator == 0 || denominator == 0; }
  /// "12 rows of the numerator", "3 rows of the numerator and 4 of the denominator"
  std::string describe() const;
};

using LevelCounts = std::map<std::string, LevelCount>;

/// That so many rows of a side would have rare levels of their own in a column, before they count.
constexpr double chance_of_own_levels = 1e-4;

struct OneSidedLevels {
  /// "city = rome (12 rows of the numerator)": levels that chance would bring to one side in less
  /// than one of a hundred columns, with the rows that have them; "120 rare levels of city (...)":
  /// those without a column of their own, where more rows have such than chance would bring.
  std::vector<std::string> names;
  /// Rows of a side with such rare levels, less what chance may well bring.
  double numerator = 0, denominator = 0;
  /// Hardly any rare level is on both sides, so that they must lack each other's; else levels may
  /// just be more frequent on one.
  bool nothing_shared = false;
};

/// visible: the levels that have a column of their own, so that a model sees them.
OneSidedLevels find_one_sided(const std::string& column, const LevelCounts& counts,
                              const std::set<std::string>& visible);

}  // namespace dre
