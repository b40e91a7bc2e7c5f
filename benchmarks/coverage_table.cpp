#include "benchmarks/coverage_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "dre/base/error.h"
#include "dre/numeric/statistics.h"

namespace dre::benchmarks {
namespace {

using Lines = std::vector<CoverageLine>;

CoverageLine from_json(const nlohmann::json& json) {
  CoverageLine line{json.at("pair"), json.at("measure"), json.at("seed"), json.at("truth"), {}};
  line.found.value = json.at("value");
  line.found.low = json.at("low");
  line.found.high = json.at("high");
  return line;
}

/// Lines of one pair and measure together.
std::vector<Lines> grouped(const Lines& lines) {
  std::vector<Lines> groups;
  for (const auto& line : lines) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Lines& group) {
      return group.front().pair == line.pair && group.front().measure == line.measure;
    });
    if (same == groups.end())
      groups.push_back({line});
    else
      same->push_back(line);
  }
  return groups;
}

Tensor values(const Lines& group) {
  std::vector<double> out;
  for (const auto& line : group) out.push_back(line.found.value);
  return torch::tensor(out, torch::kFloat64);
}

std::string printed(const char* form, auto... arguments) {
  char buffer[400];
  std::snprintf(buffer, sizeof(buffer), form, arguments...);
  return buffer;
}

std::string coverage_row(const Lines& group) {
  const CoverageLine& first = group.front();
  double below = 0, above = 0, width = 0;
  for (const auto& [pair, measure, seed, truth, found] : group) {
    below += found.high < truth;
    above += found.low > truth;
    width += found.high - found.low;
  }
  const auto n = static_cast<double>(group.size());
  const Tensor all = values(group);
  const double spread = group.size() > 1 ? all.std().item<double>() : 0;
  return printed("| %s | %s | %.4f | %.4f | %.4f | %.4f | %.0f | %.0f | %.0f %% of %.0f |\n",
                 first.pair.c_str(), first.measure.c_str(), first.truth, all.mean().item<double>(),
                 spread, width / n, below, above, 100 * (n - below - above) / n, n);
}

std::string uniformity(const Lines& group) {
  const double n = static_cast<double>(group.size());
  // Kolmogorov's critical value.
  return printed("p-values of %s: distance from uniform %.3f over %.0f seeds (1 %% level: %.3f)\n",
                 group.front().pair.c_str(), distance_from_uniform(values(group)), n,
                 1.628 / std::sqrt(n));
}

bool equal_sides(const Lines& lines, const std::string& pair) {
  return std::none_of(lines.begin(), lines.end(), [&](const CoverageLine& line) {
    return line.pair == pair && line.truth != 0 && line.measure.starts_with("KL(num");
  });
}

}  // namespace

nlohmann::json CoverageLine::to_json() const {
  return {{"pair", pair},         {"measure", measure}, {"seed", seed},      {"truth", truth},
          {"value", found.value}, {"low", found.low},   {"high", found.high}};
}

Lines read_coverage(const std::vector<std::string>& files) {
  Lines lines;
  std::set<std::tuple<std::string, std::string, int64_t>> seen;
  for (const auto& name : files) {
    std::ifstream file(name);
    check_data(file.good(), "cannot read ", name);
    int64_t number = 0;
    for (std::string line; std::getline(file, line);) try {
        ++number;
        lines.push_back(from_json(nlohmann::json::parse(line)));
        const auto& [pair, measure, seed, truth, found] = lines.back();
        check_data(seen.insert({pair, measure, seed}).second, name, " line ", number, ": seed ",
                   seed, " of ", pair, ", ", measure, " is there twice");
      } catch (const nlohmann::json::exception& error) {
        fail(Error::Kind::data, name, " line ", number, " is no estimate: ", error.what());
      }
  }
  return lines;
}

std::string coverage_table(const Lines& lines) {
  std::string table =
      "| pair | measure | truth | mean estimate | spread | mean width | interval below | interval "
      "above | covered |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
  std::string tests;
  for (const auto& group : grouped(lines))
    if (group.front().measure != CoverageLine::p_value)
      table += coverage_row(group);
    else if (equal_sides(lines, group.front().pair))
      tests += uniformity(group);
  return tests.empty() ? table : table + "\n" + tests;
}

}  // namespace dre::benchmarks
