#include "experiments/experiment.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "dre/base/error.h"

namespace dre::experiments {

std::string Cell::name() const { return text(row, ", seed ", seed); }

double number_in(const Json& result, const std::string& field) {
  const auto found = result.find(field);
  const bool number = found != result.end() && found->is_number();
  return number ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

const Json* Results::find(const std::string& row, int64_t seed) const {
  const auto found = all_.find({row, seed});
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<double> Results::numbers(const std::string& row, const std::string& field) const {
  std::vector<double> out;
  for (const auto& [key, result] : all_)
    if (key.first == row && result.contains(field)) out.push_back(number_in(result, field));
  return out;
}

report::Cell Results::mean(const std::string& row, const std::string& field) const {
  return mean_cell(numbers(row, field));
}

report::Cell mean_cell(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return {mean};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace dre::experiments
