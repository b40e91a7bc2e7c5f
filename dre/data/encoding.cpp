#include "dre/data/encoding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/cell.h"
#include "dre/data/date.h"
#include "dre/data/place.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;
using Role = EncodedColumn::Role;

const std::vector<Named<Kind>>& kinds() {
  static const std::vector<Named<Kind>> table = {
      {"number", Kind::number}, {"date", Kind::date}, {"category", Kind::category}};
  return table;
}

const std::vector<Named<Role>>& roles() {
  static const std::vector<Named<Role>> table = {{"value", Role::value},
                                                 {"missing", Role::missing},
                                                 {"atom", Role::atom},
                                                 {"level", Role::level},
                                                 {"other", Role::other}};
  return table;
}

template <class Table, class Value>
std::string name_of(const Table& table, Value value) {
  for (const auto& row : table)
    if (row.make == value) return row.name;
  return "";
}

/// A text in JSON, which knows UTF-8 only: other bytes are written as hexadecimal digits.
nlohmann::json text_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string digits;
  for (const unsigned char byte : text)
    for (const int half : {byte >> 4, byte & 15}) digits += "0123456789abcdef"[half];
  return {{"bytes", digits}};
}

std::string text_from(const nlohmann::json& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto digits = json.at("bytes").get<std::string>();
  const auto value = [&](char digit) {
    const std::string known = "0123456789abcdef";
    const size_t at = known.find(digit);
    check_data(at != std::string::npos && digits.size() % 2 == 0,
               "the bytes of a category are damaged");
    return static_cast<int>(at);
  };
  std::string text;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    text += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return text;
}

bool missing_at(const TypedColumn& column, int64_t row) {
  const auto at = static_cast<size_t>(row);
  return column.kind == Kind::category ? column.codes[at] < 0 : std::isnan(column.numbers[at]);
}

/// Notes the first missing value of a column in which it has no meaning.
void note_missing(const TypedColumn& column, Encoding::Result& result) {
  for (int64_t i = 0; i < column.rows(); ++i) {
    if (!missing_at(column, i)) continue;
    if (result.missing_row == 0 || i + 1 < result.missing_row) {
      result.missing_row = i + 1;
      result.missing_column = column.name;
    }
    return;
  }
}

/// Writes one raw column into the numeric ones.
class ColumnWriter {
 public:
  ColumnWriter(const TypedColumn& from, const RawColumn& raw, Encoding::Result& result)
      : from_(from), raw_(raw), result_(result), width_(result.values.size(1)) {}

  void values(int64_t place) {
    for (int64_t i = 0; i < from_.rows(); ++i) {
      const double x = from_.numbers[static_cast<size_t>(i)];
      at(i, place) = std::isnan(x) ? raw_.fill : x;
    }
  }

  void missing(int64_t place) {
    for (int64_t i = 0; i < from_.rows(); ++i) at(i, place) = missing_at(from_, i);
  }

  void atom(int64_t place, double value) {
    for (int64_t i = 0; i < from_.rows(); ++i)
      at(i, place) = from_.numbers[static_cast<size_t>(i)] == value;
  }

  /// target: for each level of the frame's column its numeric column, or -1.
  void levels(const std::vector<int64_t>& target) {
    for (int64_t i = 0; i < from_.rows(); ++i) {
      const int32_t code = from_.codes[static_cast<size_t>(i)];
      if (code >= 0 && target[static_cast<size_t>(code)] >= 0)
        at(i, target[static_cast<size_t>(code)]) = 1;
    }
  }

 private:
  double& at(int64_t row, int64_t place) {
    return result_.values.data_ptr<double>()[row * width_ + place];
  }

  const TypedColumn& from_;
  const RawColumn& raw_;
  Encoding::Result& result_;
  int64_t width_;
};

}  // namespace

Encoding::Encoding(std::vector<RawColumn> raw, std::vector<EncodedColumn> columns)
    : raw_(std::move(raw)), columns_(std::move(columns)), places_(raw_.size()) {
  for (size_t i = 0; i < raw_.size(); ++i)
    for (const auto& level : raw_[i].levels) places_[i][level] = -1;
  for (size_t j = 0; j < columns_.size(); ++j) {
    check_data(columns_[j].source < raw_.size(), "an encoded column has no source");
    if (columns_[j].role == Role::level)
      places_[columns_[j].source][columns_[j].level] = static_cast<int64_t>(j);
  }
}

Encoding::Encoding(const std::vector<std::string>& names) {
  std::vector<RawColumn> raw;
  std::vector<EncodedColumn> columns;
  for (const auto& name : names) {
    columns.push_back({raw.size(), Role::value, "", 0, name});
    raw.push_back({name, Kind::number, 0, {}, false, false});
  }
  *this = Encoding(std::move(raw), std::move(columns));
}

std::vector<std::string> Encoding::names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.name);
  return names;
}

std::vector<std::string> Encoding::raw_names() const {
  std::vector<std::string> names;
  for (const auto& column : raw_) names.push_back(column.name);
  return names;
}

Encoding::Result Encoding::encode(const Frame& frame) const {
  check(frame.columns.size() == raw_.size(), "expected ", raw_.size(), " columns, got ",
        frame.columns.size());
  Result result{torch::zeros({frame.rows, static_cast<int64_t>(columns_.size())}, torch::kFloat64)};
  for (size_t i = 0; i < raw_.size(); ++i) {
    check(frame.columns[i].kind == raw_[i].kind, "column ", shown(raw_[i].name), " must be a ",
          name_of(kinds(), raw_[i].kind), ", got a ", name_of(kinds(), frame.columns[i].kind));
    if (!raw_[i].has_missing) note_missing(frame.columns[i], result);
  }
  for (size_t j = 0; j < columns_.size(); ++j) {
    const auto& [source, role, level, atom, name] = columns_[j];
    ColumnWriter writer(frame.columns[source], raw_[source], result);
    const auto place = static_cast<int64_t>(j);
    if (role == Role::value) writer.values(place);
    if (role == Role::missing) writer.missing(place);
    if (role == Role::atom) writer.atom(place, atom);
  }
  for (size_t i = 0; i < raw_.size(); ++i)
    if (raw_[i].kind == Kind::category)
      ColumnWriter(frame.columns[i], raw_[i], result)
          .levels(level_targets(frame.columns[i], i, result));
  return result;
}

/// For each level of a category in a frame: its numeric column, the one of pooled levels, or -1.
std::vector<int64_t> Encoding::level_targets(const TypedColumn& column, size_t raw_column,
                                             Result& result) const {
  int64_t other = -1;
  for (size_t j = 0; j < columns_.size(); ++j)
    if (columns_[j].source == raw_column && columns_[j].role == Role::other)
      other = static_cast<int64_t>(j);
  std::vector<int64_t> targets;
  std::vector<bool> known;
  for (const auto& level : column.levels) {
    auto found = places_[raw_column].find(level);
    // A column that the fit found to be a category has its dates in their usual form.
    if (found == places_[raw_column].end())
      if (const auto date = parse_date(level)) found = places_[raw_column].find(date_text(*date));
    known.push_back(found != places_[raw_column].end());
    targets.push_back(known.back() ? found->second : other);
  }
  // Which levels were pooled is not kept, so that a rare one cannot be told from a new one.
  const bool pools = raw_[raw_column].pools;
  int64_t& count = pools ? result.pooled : result.unseen;
  std::string& example = pools ? result.pooled_example : result.unseen_example;
  for (const int32_t code : column.codes) {
    if (code < 0 || known[static_cast<size_t>(code)]) continue;
    ++count;
    if (example.empty())
      example = text(shown(column.name), " = ", shown(column.levels[static_cast<size_t>(code)]));
  }
  return targets;
}

FrameOptions Encoding::frame_options() const {
  FrameOptions options;
  for (const auto& column : raw_) {
    if (column.kind == Kind::category) options.categories.push_back(column.name);
    if (column.kind == Kind::date) options.dates.push_back(column.name);
  }
  return options;
}

std::vector<std::string> Encoding::numbers() const {
  std::vector<std::string> names;
  for (const auto& column : raw_)
    if (column.kind == Kind::number) names.push_back(column.name);
  return names;
}

std::vector<std::string> Encoding::exact() const {
  std::vector<std::string> names;
  for (const auto& column : raw_)
    if (std::any_of(column.levels.begin(), column.levels.end(),
                    [](const std::string& level) { return rounded_whole(level).has_value(); }))
      names.push_back(column.name);
  return names;
}

Encoding Encoding::select(const std::vector<size_t>& places) const {
  std::vector<RawColumn> raw;
  std::vector<EncodedColumn> columns;
  std::vector<size_t> moved(raw_.size(), raw_.size());
  for (const size_t place : places) {
    EncodedColumn column = columns_.at(place);
    size_t& to = moved[column.source];
    if (to == raw_.size()) {
      to = raw.size();
      raw.push_back(raw_[column.source]);
    }
    column.source = to;
    columns.push_back(std::move(column));
  }
  return {std::move(raw), std::move(columns)};
}

nlohmann::json Encoding::description() const {
  nlohmann::json raw = nlohmann::json::array(), columns = nlohmann::json::array();
  for (const auto& column : raw_) {
    nlohmann::json levels = nlohmann::json::array();
    for (const auto& level : column.levels) levels.push_back(text_json(level));
    raw.push_back({{"name", column.name},
                   {"kind", name_of(kinds(), column.kind)},
                   {"fill", column.fill},
                   {"has_missing", column.has_missing},
                   {"pools", column.pools},
                   {"levels", levels}});
  }
  for (const auto& column : columns_)
    columns.push_back({{"name", column.name},
                       {"source", column.source},
                       {"role", name_of(roles(), column.role)},
                       {"level", text_json(column.level)},
                       {"atom", column.atom}});
  return {{"raw", raw}, {"columns", columns}};
}

Encoding Encoding::load(const nlohmann::json& description) {
  try {
    std::vector<RawColumn> raw;
    std::vector<EncodedColumn> columns;
    for (const auto& json : description.at("raw")) {
      RawColumn column{json.at("name").get<std::string>(),
                       choose("kind of column", kinds(), json.at("kind").get<std::string>()),
                       json.at("fill").get<double>(),
                       {},
                       json.at("has_missing").get<bool>(),
                       json.at("pools").get<bool>()};
      for (const auto& level : json.at("levels")) column.levels.push_back(text_from(level));
      raw.push_back(std::move(column));
    }
    for (const auto& json : description.at("columns"))
      columns.push_back({json.at("source").get<size_t>(),
                         choose("role of a column", roles(), json.at("role").get<std::string>()),
                         text_from(json.at("level")), json.at("atom").get<double>(),
                         json.at("name").get<std::string>()});
    return {std::move(raw), std::move(columns)};
  } catch (const nlohmann::json::exception& error) {
    fail(Error::Kind::data, "the description of the encoding is damaged: ", error.what());
  }
}

}  // namespace dre
