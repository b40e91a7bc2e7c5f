#include "benchmarks/results.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "dre/base/error.h"

namespace dre::benchmarks {
namespace {

using nlohmann::json;

std::string number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "–";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3g", *value);
  return digits;
}

/// "| first | second |"
std::string line(const std::vector<std::string>& entries) {
  std::string out = "|";
  for (const auto& entry : entries) out += " " + entry + " |";
  return out + "\n";
}

struct Summary {
  std::optional<double> geometric_mean, seconds;
};

/// Over all pairs; nothing when one is missing, since a mean over the easy ones would mislead.
Summary summarise(const Results& results, const Selection& selection, const std::string& method) {
  double logs = 0, seconds = 0;
  for (const auto& pair : selection.pairs) {
    const auto score = results.mean(pair.name, method, selection.rows, selection.seeds);
    if (!score) return {};
    logs += std::log(score->mse);
    seconds += score->seconds;
  }
  const auto count = static_cast<double>(selection.pairs.size());
  return {std::exp(logs / count), seconds / count};
}

}  // namespace

Results::Results(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (std::filesystem::exists(path_)) load();
  save();
}

void Results::load() {
  std::ifstream file(path_);
  try {
    const json content = json::parse(file);
    for (const json& entry : content.at("cells")) {
      // JSON has no NaN: a fit that gave one is stored as null.
      const json& mse = entry.at("mse");
      scores_[{entry.at("pair"), entry.at("method"), entry.at("rows"), entry.at("seed")}] = {
          mse.is_null() ? std::numeric_limits<double>::quiet_NaN() : mse.get<double>(),
          entry.at("seconds")};
    }
  } catch (const json::exception& error) {
    fail(Error::Kind::data, path_, " is not a file of results (", error.what(),
         "); name another with --out or delete it");
  }
}

void Results::save() const {
  json cells = json::array();
  for (const auto& [cell, score] : scores_)
    cells.push_back({{"pair", cell.pair},
                     {"method", cell.method},
                     {"rows", cell.rows},
                     {"seed", cell.seed},
                     {"mse", score.mse},
                     {"seconds", score.seconds}});
  const std::string aside = path_ + ".part";
  std::ofstream file(aside);
  file << json{{"cells", cells}}.dump(1) << '\n';
  file.close();
  check_data(file.good(), "cannot write ", aside, "; name a writable place with --out");
  std::filesystem::rename(aside, path_);
}

void Results::add(const Cell& cell, const Score& score) {
  scores_[cell] = score;
  if (!path_.empty()) save();
}

std::optional<Score> Results::mean(const std::string& pair, const std::string& method, int64_t rows,
                                   int64_t seeds) const {
  Score total{0, 0};
  for (int64_t seed = 0; seed < seeds; ++seed) {
    const auto found = scores_.find({pair, method, rows, static_cast<uint64_t>(seed)});
    if (found == scores_.end()) return std::nullopt;
    total.mse += found->second.mse;
    total.seconds += found->second.seconds;
  }
  const auto count = static_cast<double>(seeds);
  return Score{total.mse / count, total.seconds / count};
}

std::string markdown(const Results& results, const Selection& selection) {
  std::vector<std::string> head = {"pair", "d", "KL"}, rule = {"---", "---", "---"};
  std::vector<std::string> geometric = {"**geometric mean**", "", ""},
                           seconds = {"seconds a fit", "", ""};
  for (const auto& method : selection.methods) {
    const Summary summary = summarise(results, selection, method);
    head.push_back(method);
    rule.push_back("---");
    geometric.push_back(number(summary.geometric_mean));
    seconds.push_back(number(summary.seconds));
  }
  std::string out = line(head) + line(rule);
  for (const auto& pair : selection.pairs) {
    std::vector<std::string> entries = {pair.name, std::to_string(pair.dimension), number(pair.kl)};
    for (const auto& method : selection.methods) {
      const auto score = results.mean(pair.name, method, selection.rows, selection.seeds);
      entries.push_back(number(score ? std::optional(score->mse) : std::nullopt));
    }
    out += line(entries);
  }
  return out + line(geometric) + line(seconds);
}

}  // namespace dre::benchmarks
