/// How often the confidence intervals of dre compare and dre mi hold the truth, and whether the
/// p-values of compare are uniform on pairs of equal sides. One process runs a range of seeds,
///
///     coverage --pairs scale-10,mi-spiral-3 --rows 2000 --first-seed 20 --seeds 10 > a.jsonl
///
/// and writes a line of JSON for each estimate; others may run beside it. Together they become a
/// Markdown table:
///
///     coverage --merge a.jsonl b.jsonl
///
/// coverage.sh does all of that for the study in results/coverage.md.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <numbers>

#include "benchmarks/coverage_table.h"
#include "benchmarks/pairs/suite.h"
#include "dre/apps/compare.h"
#include "dre/apps/mutual_information.h"

namespace dre::benchmarks {
namespace {

struct Options {
  std::vector<std::string> pairs = {"scale-10", "mixture-2"};
  std::vector<std::string> merge;
  int64_t rows = 2000, seeds = 100, first_seed = 0, folds = 5;
  double level = 0.9;
  int64_t steps = -1, patience = -1;  // the tool's own

  void apply(FitOptions& fit, int64_t seed) const {
    fit.seed = seed;
    if (steps >= 0) fit.train.steps = steps;
    if (patience >= 0) fit.train.patience = patience;
  }
};

std::vector<std::string> names(const char* stem, int64_t count) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(text(stem, i));
  return out;
}

/// KL both ways, Jensen-Shannon, total variation; by formula or from many rows.
std::vector<double> true_divergences(const pairs::Pair& pair) {
  auto generator = Context{}.generator("truth of " + pair.name());
  const int64_t n = 400'000;
  const Tensor g0 = pair.log_ratio(pair.sample_numerator(n, generator));
  const Tensor g1 = pair.log_ratio(pair.sample_denominator(n, generator));
  const auto mean = [](const Tensor& x) { return x.to(torch::kFloat64).mean().item<double>(); };
  return {pair.kl() ? *pair.kl() : mean(g0), -mean(g1),
          std::numbers::ln2 - 0.5 * (mean(torch::softplus(-g0)) + mean(torch::softplus(g1))),
          mean(g0 > 0) - mean(g1 > 0)};
}

at::Generator rows_of(const pairs::Pair& pair, int64_t seed) {
  return Context{torch::kCPU, torch::kFloat64, static_cast<uint64_t>(seed)}.generator(
      "coverage of " + pair.name());
}

/// As dre compare measures them.
std::vector<CoverageLine> compare_once(const pairs::Pair& pair, const std::vector<double>& truth,
                                       const Options& options, int64_t seed) {
  auto generator = rows_of(pair, seed);
  const Samples numerator = make_samples(pair.sample_numerator(options.rows, generator));
  const Samples denominator = make_samples(pair.sample_denominator(options.rows, generator));
  CompareOptions own;
  own.cross_fit.folds = options.folds;
  own.level = options.level;
  options.apply(own.fit, seed);
  Progress silent;
  const CompareResult result = compare(make_sides(numerator, denominator), own, silent);
  const Divergences& found = result.divergences;
  return {{pair.name(), "KL(num, den)", seed, truth[0], found.kl_numerator_denominator},
          {pair.name(), "KL(den, num)", seed, truth[1], found.kl_denominator_numerator},
          {pair.name(), "JS", seed, truth[2], found.jensen_shannon},
          {pair.name(), "TV", seed, truth[3], found.total_variation},
          {pair.name(), CoverageLine::p_value, seed, 0, {result.test.p_value}}};
}

/// As dre mi measures it, from rows of the joint distribution alone.
std::vector<CoverageLine> inform_once(const pairs::Pair& pair, const std::vector<double>& truth,
                                      const Options& options, int64_t seed) {
  auto generator = rows_of(pair, seed);
  const Tensor rows = pair.sample_numerator(options.rows, generator);
  const int64_t first = (pair.dimension() + 1) / 2;  // so all joint pairs of the suite are made
  Groups groups;
  groups.x = rows.slice(1, 0, first).contiguous();
  groups.y = rows.slice(1, first).contiguous();
  groups.x_names = names("x", groups.x.size(1));
  groups.y_names = names("y", groups.y.size(1));
  MutualInformationOptions own;
  own.cross_fit.folds = options.folds;
  own.level = options.level;
  options.apply(own.fit, seed);
  Progress silent;
  const MutualInformation found = mutual_information(groups, own, silent);
  return {{pair.name(), "MI", seed, truth[0], found.information}};
}

void run_pair(const Options& options, const std::string& name) {
  const pairs::Pair pair = pairs::pair_by_name(name);
  const std::vector<double> truth = true_divergences(pair);
  const auto once = name.starts_with("mi-") ? inform_once : compare_once;
  for (int64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    const std::clock_t start = std::clock();
    for (const auto& line : once(pair, truth, options, seed))
      std::cout << line.to_json().dump() << std::endl;
    std::fprintf(stderr, "%s, seed %d: %.1f processor seconds\n", name.c_str(),
                 static_cast<int>(seed),
                 static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
}

void run(const Options& options) {
  if (!options.merge.empty())
    std::cout << coverage_table(read_coverage(options.merge));
  else
    for (const auto& name : options.pairs) run_pair(options, name);
}

}  // namespace
}  // namespace dre::benchmarks

int main(int argc, char** argv) {
  dre::benchmarks::Options options;
  CLI::App app("Coverage of the confidence intervals of dre compare and dre mi");
  app.add_option("--pairs", options.pairs, "pairs, separated by commas")->delimiter(',');
  app.add_option("--rows", options.rows, "rows a side")->capture_default_str();
  app.add_option("--seeds", options.seeds, "data seeds")->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "the first of them")->capture_default_str();
  app.add_option("--folds", options.folds, "folds")->capture_default_str();
  app.add_option("--steps", options.steps, "steps of a fit; default the tool's own");
  app.add_option("--patience", options.patience, "steps; default the tool's own");
  app.add_option("--level", options.level, "of the intervals")->capture_default_str();
  app.add_option("--merge", options.merge, "files with lines of finished seeds");
  CLI11_PARSE(app, argc, argv);
  try {
    dre::benchmarks::run(options);
  } catch (const dre::Error& error) {
    std::fprintf(stderr, "coverage: %s\n", error.what());
    return error.kind() == dre::Error::Kind::usage ? 2 : 3;
  }
}
