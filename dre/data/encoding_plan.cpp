#include "dre/data/encoding_plan.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "dre/base/error.h"
#include "dre/data/cell.h"
#include "dre/data/date.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;
using Role = EncodedColumn::Role;

constexpr double atom_share = 0.05;     // of a side, before a value counts as a point mass
constexpr double distinct_share = 0.5;  // of the other values, for a column to be continuous else
constexpr size_t most_levels = 30;
constexpr int64_t fewest_rows = 20;    // of a point mass, or of a column that can have identifiers
constexpr int64_t level_rows = 10;     // of a level that gets a column
constexpr double least_share = 0.005;  // of the smaller side, likewise
constexpr int64_t least_rows = 5;      // instead of both, where no level has so many
constexpr double pooled_noticed = 0.1;
constexpr double identifier_share = 0.9;

std::vector<double> present(const TypedColumn& column) {
  std::vector<double> out;
  std::copy_if(column.numbers.begin(), column.numbers.end(), std::back_inserter(out),
               [](double x) { return !std::isnan(x); });
  return out;
}

double quantile(std::vector<double> values, double level) {
  const auto place = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size()));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<size_t>(place)];
}

/// Whether values differ in their last digits only, so that the rounding of what is stored, as of
/// whole numbers beyond 2^53, is a part of what is compared.
bool are_rounded(const std::vector<double>& values) {
  constexpr double least_steps = 1000;  // between the quartiles
  const double size = std::abs(quantile(values, 0.5));
  const double range = quantile(values, 0.75) - quantile(values, 0.25);
  const double step = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return range > 0 && range < least_steps * step;
}

/// The most frequent value of a side.
struct Atom {
  double value = 0, share = 0;
  int64_t rows = 0;
  bool others_differ = false;  ///< the other values hardly repeat

  bool is_all() const { return share == 1; }

  /// Whether it makes up a good part of a column that is continuous else; where nothing else is on
  /// its side, the other one tells.
  bool stands_out(const Atom& other_side) const {
    return share >= atom_share && rows >= fewest_rows &&
           (is_all() ? other_side.others_differ : others_differ);
  }
};

Atom find_atom(std::vector<double> values) {
  Atom atom;
  if (values.empty()) return atom;
  std::sort(values.begin(), values.end());
  int64_t distinct = 0;
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (end < values.size() && values[end] == values[i]) ++end;
    if (const auto length = static_cast<int64_t>(end - i); length > atom.rows) {
      atom.rows = length;
      atom.value = values[i];
    }
    ++distinct;
    i = end;
  }
  const auto all = static_cast<double>(values.size()), rows = static_cast<double>(atom.rows);
  atom.share = rows / all;
  atom.others_differ = static_cast<double>(distinct - 1) > distinct_share * (all - rows);
  return atom;
}

/// Whether all are whole and none repeats, though of so many numbers in their range some pairs
/// would be equal by chance: row numbers and identifiers are like that.
bool are_row_numbers(const std::vector<double>& values, const Atom& atom) {
  constexpr double fewest_pairs = 10;  // expected by chance; that there are none: exp(-10)
  if (atom.rows != 1) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  return count * (count - 1) / 2 > fewest_pairs * (*most - *least + 1) &&
         std::all_of(values.begin(), values.end(), [](double x) { return x == std::floor(x); });
}

/// "1,234", "12.3%", "$99", "7/13/2021", "20210713T1200Z": text that a person reads as a number or
/// a date; "T1" is a name.
bool looks_formatted(const std::string& text) {
  const bool digits =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && std::isalpha(static_cast<unsigned char>(text.front())) == 0 &&
         text.find_first_not_of("0123456789.,'/-:%$+ ()eETZ\xE2\x82\xAC\xC2\xA3") ==
             std::string::npos;
}

/// Whether all levels do. Plain numbers alone are categories because somebody said so.
bool are_formatted(const LevelCounts& levels) {
  bool plain = true;
  for (const auto& [level, count] : levels) {
    if (!looks_formatted(level)) return false;
    plain = plain && parse_cell(level).kind == Cell::Kind::number;
  }
  return !plain;
}

/// Whether one side has a single value that the other never has, where its column is continuous or
/// has a single value, too.
bool never_meet(const Atom& atom0, const std::vector<double>& values0, const Atom& atom1,
                const std::vector<double>& values1) {
  const auto absent = [](double value, const std::vector<double>& from) {
    return std::find(from.begin(), from.end(), value) == from.end();
  };
  constexpr auto least = static_cast<size_t>(fewest_rows);
  if (std::min(values0.size(), values1.size()) < least) return false;
  if (atom0.is_all() && atom1.is_all()) return atom0.value != atom1.value;
  return (atom0.is_all() && atom0.stands_out(atom1) && absent(atom0.value, values1)) ||
         (atom1.is_all() && atom1.stands_out(atom0) && absent(atom1.value, values0));
}

/// One table is planned as two equal ones whose rows count once.
class Planner {
 public:
  Planner(Frame& numerator, Frame& denominator)
      : numerator_(numerator), denominator_(denominator), one_table_(&numerator == &denominator) {}

  EncodingPlan run() {
    check(numerator_.columns.size() == denominator_.columns.size(), "the sides have ",
          numerator_.columns.size(), " and ", denominator_.columns.size(), " columns");
    for (size_t i = 0; i < numerator_.columns.size(); ++i) {
      TypedColumn &first = numerator_.columns[i], &second = denominator_.columns[i];
      if (left_out(first, second)) continue;
      if (first.kind == Kind::category)
        plan_category(first, second);
      else
        plan_number(first, second);
    }
    plan_.encoding = Encoding(std::move(raw_), std::move(columns_));
    return std::move(plan_);
  }

 private:
  bool left_out(TypedColumn& first, TypedColumn& second) {
    const bool none0 = first.missing() == first.rows(), none1 = second.missing() == second.rows();
    if (none0 && none1) {
      plan_.all_missing.push_back(first.name);
      return true;
    }
    if ((none0 && second.missing() == 0) || (none1 && first.missing() == 0)) {
      plan_.only_on_one_side.push_back(first.name);
      return true;
    }
    if (none0 || none1) plan_.missing_on_one_side.push_back(first.name);
    if (first.id_like || second.id_like) {
      plan_.id_like.push_back(first.name);
      return true;
    }
    if (first.kind == second.kind) return false;
    // A column without any value has no kind of its own.
    if ((none0 || none1) && first.kind != Kind::category && second.kind != Kind::category) {
      (none0 ? first : second).kind = (none0 ? second : first).kind;
      return false;
    }
    TypedColumn words0 = TypedColumn(first).as_category();
    TypedColumn words1 = TypedColumn(second).as_category();
    if (share_no_level(words0, words1)) {
      plan_.kinds_differ.push_back(first.name);
      return true;
    }
    first = std::move(words0);
    second = std::move(words1);
    return false;
  }

  bool share_no_level(const TypedColumn& first, const TypedColumn& second) const {
    const LevelCounts counts = count_levels(first, second);
    return std::min(first.rows() - first.missing(), second.rows() - second.missing()) >=
               fewest_rows &&
           std::all_of(counts.begin(), counts.end(),
                       [](const auto& one) { return one.second.one_sided(); });
  }

  void add(Role role, const std::string& name, const std::string& level = "", double atom = 0) {
    columns_.push_back({raw_.size(), role, level, atom, name});
  }

  void plan_number(const TypedColumn& first, const TypedColumn& second) {
    RawColumn raw{first.name, first.kind, 0, {}, first.missing() + second.missing() > 0, false};
    std::vector<double> values0 = present(first), values1 = present(second);
    const Atom atom0 = find_atom(values0), atom1 = find_atom(values1);
    if (raw.kind == Kind::number && are_row_numbers(values0, atom0) &&
        are_row_numbers(values1, atom1))
      plan_.row_numbers.push_back(raw.name);
    const bool meet_as_missing = first.missing() > 0 && second.missing() > 0;
    if (!meet_as_missing && never_meet(atom0, values0, atom1, values1))
      return plan_.never_equal.push_back(raw.name);
    values0.insert(values0.end(), values1.begin(), values1.end());
    if (are_rounded(values0)) plan_.rounded.push_back(raw.name);
    if (raw.has_missing) raw.fill = quantile(std::move(values0), 0.5);
    add(Role::value, raw.name);
    if (raw.has_missing) add(Role::missing, raw.name + " is missing");
    const bool first_has_more = atom0.share >= atom1.share;
    const Atom &atom = first_has_more ? atom0 : atom1, &other = first_has_more ? atom1 : atom0;
    if (atom.stands_out(other)) {
      const std::string value =
          raw.kind == Kind::date ? date_text(atom.value) : number_text(atom.value);
      add(Role::atom, raw.name + " = " + value, "", atom.value);
    }
    raw_.push_back(std::move(raw));
  }

  LevelCounts count_levels(const TypedColumn& first, const TypedColumn& second) const {
    LevelCounts counts;
    for (const int32_t code : first.codes)
      if (code >= 0) ++counts[first.levels[static_cast<size_t>(code)]].numerator;
    if (one_table_) return counts;
    for (const int32_t code : second.codes)
      if (code >= 0) ++counts[second.levels[static_cast<size_t>(code)]].denominator;
    return counts;
  }

  bool is_identifier(const LevelCounts& counts, int64_t rows) const {
    int64_t own = 0;
    for (const auto& [level, count] : counts) own += count.both() == 1;
    return rows > fewest_rows &&
           static_cast<double>(own) > identifier_share * static_cast<double>(rows);
  }

  /// Whether all rows of one side have one level, which the other side never has.
  static bool levels_never_meet(const TypedColumn& first, const TypedColumn& second,
                                const LevelCounts& counts) {
    if (std::min(first.rows(), second.rows()) < fewest_rows) return false;
    return std::any_of(counts.begin(), counts.end(), [&](const auto& one) {
      const auto [numerator, denominator] = one.second;
      return (denominator == 0 && numerator == first.rows()) ||
             (numerator == 0 && denominator == second.rows());
    });
  }

  void plan_category(const TypedColumn& first, const TypedColumn& second) {
    const auto counts = count_levels(first, second);
    const int64_t missing = first.missing() + (one_table_ ? 0 : second.missing());
    const int64_t rows = first.rows() + (one_table_ ? 0 : second.rows()) - missing;
    const bool formatted = are_formatted(counts);
    if (is_identifier(counts, rows)) {
      if (formatted) plan_.formatted.push_back(first.name);
      return plan_.id_like.push_back(first.name);
    }
    if (formatted && counts.size() >= 10) plan_.formatted_levels.push_back(first.name);
    if (counts.size() == 1 && missing == 0) return plan_.constant_text.push_back(first.name);
    if (!one_table_ && levels_never_meet(first, second, counts))
      return plan_.never_equal.push_back(first.name);

    const double share = least_share * static_cast<double>(std::min(first.rows(), second.rows()));
    const int64_t needed = std::max(level_rows, static_cast<int64_t>(std::ceil(share)));
    // Two levels tell no more when they are pooled, however rare one of them is.
    Levels frequent = most_frequent(counts, counts.size() == 2 ? 0 : needed);
    if (frequent.empty()) frequent = most_frequent(counts, least_rows);
    int64_t pooled = rows;
    for (const auto& one : frequent) pooled -= one.second.both();
    if (!one_table_) find_own_levels(first, second, counts, frequent);
    if (frequent.empty() && missing == 0) return plan_.rare_levels.push_back(first.name);
    const double part = static_cast<double>(pooled) / static_cast<double>(rows);
    if (part > pooled_noticed)
      plan_.pooled.push_back(text(first.name, " (", counts.size() - frequent.size(), " levels, ",
                                  std::round(100 * part), " % of the rows)"));
    add_levels(first, second, frequent, missing, pooled);
  }

  using Levels = std::vector<std::pair<std::string, LevelCount>>;

  static Levels most_frequent(const LevelCounts& counts, int64_t needed) {
    Levels frequent;
    for (const auto& one : counts)
      if (one.second.both() >= needed) frequent.push_back(one);
    std::stable_sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
      return a.second.both() > b.second.both();
    });
    if (frequent.size() > most_levels) frequent.resize(most_levels);
    return frequent;
  }

  void find_own_levels(const TypedColumn& first, const TypedColumn& second,
                       const LevelCounts& counts, const Levels& frequent) {
    std::set<std::string> visible;
    for (const auto& one : frequent) visible.insert(one.first);
    const OneSidedLevels found = find_one_sided(first.name, counts, visible);
    for (const auto& level : found.names) plan_.one_sided_levels.push_back(level);
    if (frequent.empty()) return;
    OwnLevels& own = plan_.own_levels;
    own.looks += 2;
    if (found.numerator + found.denominator == 0) return;
    own.columns.push_back(first.name);
    own.nothing_shared = own.nothing_shared || found.nothing_shared;
    const auto share = [](double rows, const TypedColumn& column) {
      return rows / static_cast<double>(column.rows());
    };
    own.numerator = std::max(own.numerator, share(found.numerator, first));
    own.denominator = std::max(own.denominator, share(found.denominator, second));
  }

  /// The most frequent of levels, "(other)" and "missing" gets no column.
  void add_levels(const TypedColumn& first, const TypedColumn& second, const Levels& frequent,
                  int64_t missing, int64_t pooled) {
    RawColumn raw{first.name, Kind::category, 0, {}, missing > 0, pooled > 0};
    const int64_t most =
        std::max({frequent.empty() ? 0 : frequent.front().second.both(), missing, pooled});
    bool dropped = false;
    const auto add_unless_first = [&](int64_t count, Role role, const std::string& label,
                                      const std::string& level) {
      if (count == 0) return;
      if (!dropped && count == most) {
        dropped = true;
        return;
      }
      add(role, label, level);
    };
    for (const auto& [level, count] : frequent) {
      raw.levels.push_back(level);
      const std::string label = raw.name + " = " + printable(level);
      add_unless_first(count.both(), Role::level, label, level);
    }
    add_unless_first(pooled, Role::other, raw.name + " = (other)", "");
    add_unless_first(missing, Role::missing, raw.name + " is missing", "");
    const bool all0 = first.missing() == first.rows(), all1 = second.missing() == second.rows();
    if (missing > 0 && !all0 && !all1 && (first.missing() == 0) != (second.missing() == 0))
      one_sided_missing(raw.name, {first.missing(), second.missing()});
    raw_.push_back(std::move(raw));
  }

  void one_sided_missing(const std::string& name, const LevelCount& missing) {
    if (missing.both() < fewest_rows) return;
    plan_.one_sided_levels.push_back(text(name, " is missing (", missing.describe(), ")"));
  }

  Frame &numerator_, &denominator_;
  bool one_table_;
  std::vector<RawColumn> raw_;
  std::vector<EncodedColumn> columns_;
  EncodingPlan plan_;
};

}  // namespace

EncodingPlan make_encoding(Frame& numerator, Frame& denominator) {
  return Planner(numerator, denominator).run();
}

EncodingPlan make_encoding(Frame& table) { return Planner(table, table).run(); }

Frame take_columns(Frame& table, const Encoding& encoding) {
  Frame used{{}, table.rows, table.rows_read};
  const std::vector<RawColumn>& wanted = encoding.raw();
  for (auto& column : table.columns)
    if (const size_t next = used.columns.size();
        next < wanted.size() && column.name == wanted[next].name)
      used.columns.push_back(std::move(column));
  return used;
}

}  // namespace dre
