#include "dre/data/column_transform.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/place.h"

namespace dre {
namespace {

constexpr double most_excess_kurtosis = 3;
constexpr double most_skewness = 1;
constexpr int64_t few_distinct = 32;
constexpr double far_out = 5;  // interquartile ranges from the middle

void check_same_width(const Samples& numerator, const Samples& denominator) {
  check(numerator.columns() == denominator.columns(), "the numerator has ", numerator.columns(),
        " columns, the denominator ", denominator.columns(), "; both need the same");
}

void check_sides(const Samples& numerator, const Samples& denominator,
                 const std::vector<std::string>& names) {
  check_same_width(numerator, denominator);
  check(static_cast<int64_t>(names.size()) == numerator.columns(), names.size(), " names for ",
        numerator.columns(), " columns");
}

struct Side {
  Tensor x, weight;  // [n] each; the weights sum to 1
};

Side side_of(const Samples& samples, int64_t index) {
  const Tensor weight = samples.weights().cpu();
  return {samples.column(index), weight / weight.sum()};
}

/// Weighted skewness or kurtosis beyond what a Gaussian reference bears.
bool heavy_tailed(const Side& side) {
  const double first = side.x[0].item<double>();
  Tensor rest = side.x - first;  // before the mean, so that huge offsets cancel exactly
  rest = rest - at::dot(side.weight, rest);
  const double largest = rest.abs().max().item<double>();
  if (largest == 0) return false;
  rest = rest / largest;
  const Tensor square = rest.square();
  const double variance = at::dot(side.weight, square).item<double>();
  const double third = at::dot(side.weight, square * rest).item<double>();
  const double fourth = at::dot(side.weight, square.square()).item<double>();
  return std::abs(third) > most_skewness * std::pow(variance, 1.5) ||
         fourth > (3 + most_excess_kurtosis) * variance * variance;
}

PooledColumn pool(const Side& numerator, const Side& denominator) {
  return {torch::cat({numerator.x, denominator.x}),
          torch::cat({numerator.weight, denominator.weight}) / 2};
}

bool has_outliers(const PooledColumn& column) {
  const Levels pooled = levels(column);
  const int64_t last = pooled.value.size(0) - 1;
  const auto value = [&](int64_t place) { return pooled.value[place].item<double>(); };
  const auto quantile = [&](double level) {
    const Tensor wanted = torch::tensor(level, torch::kFloat64);
    return value(std::min(at::searchsorted(pooled.level, wanted).item<int64_t>(), last));
  };
  const double middle = quantile(0.5), range = quantile(0.75) - quantile(0.25);
  return range > 0 && std::max(value(last) - middle, middle - value(0)) > far_out * range;
}

bool has_few_values(const PooledColumn& column) {
  // Enough distinct values among the first rows settle it without sorting all.
  for (const int64_t rows : {std::min<int64_t>(column.x.size(0), 4096), column.x.size(0)}) {
    const PooledColumn part{column.x.narrow(0, 0, rows), column.weight.narrow(0, 0, rows)};
    if (levels(part).value.size(0) >= few_distinct) return false;
  }
  return true;
}

std::string kind_of(const Side& numerator, const Side& denominator, const std::string& asked) {
  std::string kind = asked;
  if (asked == "auto")
    kind = heavy_tailed(numerator) || heavy_tailed(denominator) ? "rank" : "zscore";
  if (kind == "zscore") return kind;
  return has_few_values(pool(numerator, denominator)) ? "zscore" : kind;
}

}  // namespace

std::string ColumnTransformOptions::of(const std::string& column) const {
  for (const auto& entry : single)
    if (const size_t at = entry.rfind('='); entry.substr(0, at) == column)
      return at == std::string::npos ? transform : entry.substr(at + 1);
  return transform;
}

void ColumnTransformOptions::check_columns(const std::vector<std::string>& names) const {
  const Names known = kinds();
  std::vector<std::string> seen;
  for (const auto& entry : single) {
    const size_t at = entry.rfind('=');
    const std::string column = entry.substr(0, at);
    check(at != std::string::npos && contains(known, entry.substr(at + 1)),
          "--transform-columns must read like income=asinh,age=rank with ", join(known), "; got ",
          shown(entry));
    check(contains(names, column), "--transform-columns names ", shown(column),
          ", which is no numeric column here; there are ", listed(names));
    check(!contains(seen, column), "--transform-columns names ", shown(column),
          " twice; name it once");
    seen.push_back(column);
  }
}

ColumnTransformOptions with_outliers_ranked(ColumnTransformOptions options,
                                            const Samples& numerator, const Samples& denominator,
                                            const std::vector<std::string>& names) {
  const at::NoGradGuard no_grad;
  check_sides(numerator, denominator, names);
  const Samples top = numerator.positive(), bottom = denominator.positive();
  for (size_t j = 0; j < names.size(); ++j) {
    const auto index = static_cast<int64_t>(j);
    if (options.of(names[j]) != "auto" ||
        !has_outliers(pool(side_of(top, index), side_of(bottom, index))))
      continue;
    const auto asked =
        std::remove(options.single.begin(), options.single.end(), names[j] + "=auto");
    options.single.erase(asked, options.single.end());
    options.single.push_back(names[j] + "=rank");
  }
  return options;
}

ConstantColumns constant_columns(const Samples& numerator, const Samples& denominator) {
  check_same_width(numerator, denominator);
  const auto [low0, high0] = at::aminmax(numerator.positive().x, /*dim=*/0);
  const auto [low1, high1] = at::aminmax(denominator.positive().x, /*dim=*/0);
  const Tensor one0 = (low0 == high0).cpu(), one1 = (low1 == high1).cpu();
  const Tensor same =
      low0.to(torch::kCPU, torch::kFloat64) == low1.to(torch::kCPU, torch::kFloat64);
  ConstantColumns result;
  for (int64_t j = 0; j < numerator.columns(); ++j) {
    const auto place = static_cast<size_t>(j);
    const bool first = one0[j].item<bool>(), second = one1[j].item<bool>();
    const bool constant = first && second && same[j].item<bool>();
    (constant ? result.constant : result.others).push_back(place);
    if (first != second) result.one_sided.push_back(place);
    if (first && second && !constant) result.separated.push_back(place);
  }
  return result;
}

ColumnTransforms ColumnTransforms::fit(const Samples& numerator, const Samples& denominator,
                                       std::vector<std::string> names,
                                       const ColumnTransformOptions& options) {
  const at::NoGradGuard no_grad;
  validate(options);
  check_sides(numerator, denominator, names);
  const Samples top = numerator.positive(), bottom = denominator.positive();
  ColumnTransforms result;
  for (int64_t j = 0; j < numerator.columns(); ++j) {
    const Side first = side_of(top, j), second = side_of(bottom, j);
    const std::string kind = kind_of(first, second, options.of(names[static_cast<size_t>(j)]));
    result.kinds_.push_back(kind);
    result.maps_.push_back(choose("transform", column_maps(), kind).fit(pool(first, second)));
  }
  result.names_ = std::move(names);
  return result;
}

Tensor ColumnTransforms::apply(const Tensor& in, Direction direction) const {
  const at::NoGradGuard no_grad;
  check(in.dim() == 2 && in.size(1) == columns(), "expected a table of ", columns(),
        " columns, got shape ", in.sizes());
  Tensor out = torch::empty(in.sizes(), in.options().dtype(torch::kFloat64));
  // Blocks of rows stay in the cache while the columns, which lie across them, are walked.
  constexpr int64_t block_rows = 16384;
  for (int64_t start = 0; start < in.size(0); start += block_rows) {
    const int64_t stop = std::min(start + block_rows, in.size(0));
    const Tensor from = in.slice(0, start, stop).t().to(torch::kFloat64).contiguous();
    for (int64_t j = 0; j < columns(); ++j)
      out.slice(0, start, stop)
          .select(1, j)
          .copy_(((*maps_[static_cast<size_t>(j)]).*direction)(from[j]));
  }
  return out;
}

Tensor ColumnTransforms::forward(const Tensor& raw) const {
  return apply(raw, &ColumnMap::forward);
}

Tensor ColumnTransforms::inverse(const Tensor& z) const { return apply(z, &ColumnMap::inverse); }

NamedTensors ColumnTransforms::tensors() const {
  std::vector<Tensor> parts;
  for (const auto& map : maps_) parts.push_back(map->parameters());
  return {{"transform.parameters", torch::cat(parts)}};
}

nlohmann::json ColumnTransforms::description() const {
  nlohmann::json columns = nlohmann::json::array();
  for (size_t j = 0; j < names_.size(); ++j)
    columns.push_back(
        {{"name", names_[j]}, {"kind", kinds_[j]}, {"parameters", maps_[j]->parameters().numel()}});
  return columns;
}

ColumnTransforms ColumnTransforms::load(const NamedTensors& tensors,
                                        const nlohmann::json& description) {
  const Tensor all = at(tensors, "transform.parameters").to(torch::kCPU, torch::kFloat64);
  check_data(description.is_array() && !description.empty(),
             "the description of the column transforms must be a list of columns");
  ColumnTransforms result;
  int64_t position = 0;
  try {
    for (const auto& column : description) {
      const auto count = column.at("parameters").get<int64_t>();
      check_data(count >= 1 && position + count <= all.numel(),
                 "the column transforms name more parameters than the file has");
      result.names_.push_back(column.at("name").get<std::string>());
      result.kinds_.push_back(column.at("kind").get<std::string>());
      const Names known = names_of(column_maps());
      check_data(contains(known, result.kinds_.back()), "unknown column transform '",
                 result.kinds_.back(), "'; known are ", join(known));
      const auto& maker = choose("transform", column_maps(), result.kinds_.back());
      result.maps_.push_back(maker.load(all.narrow(0, position, count)));
      position += count;
    }
  } catch (const nlohmann::json::exception& error) {
    fail(Error::Kind::data, "the description of the column transforms is damaged: ", error.what());
  }
  check_data(position == all.numel(), "the column transforms use ", position, " parameters of ",
             all.numel(), "; the file is damaged");
  return result;
}

}  // namespace dre
