/// How often the confidence intervals of dre compare hold the true divergence, and whether its
/// p-values are uniform on pairs of equal sides:
///
///     coverage --pairs scale-10,mixture-2 --rows 2000 --seeds 100
///
/// prints a line a seed to standard error and a Markdown table to standard output.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>

#include "benchmarks/pairs/suite.h"
#include "dre/apps/divergence.h"
#include "dre/apps/two_sample_test.h"
#include "dre/numeric/statistics.h"

namespace dre::benchmarks {
namespace {

struct Options {
  std::vector<std::string> pairs = {"scale-10", "mixture-2", "mixture-10"};
  int64_t rows = 2000, seeds = 100, first_seed = 0, folds = 5;
  double level = 0.9;
  FitOptions fit = quick_fit();
};

/// One divergence over all seeds.
struct Tally {
  const char* name;
  double truth;
  int64_t covered = 0, seeds = 0;
  double sum = 0, width = 0;

  void add(const Divergence& found) {
    ++seeds;
    covered += found.low <= truth && truth <= found.high;
    sum += found.value;
    width += found.high - found.low;
  }
};

std::vector<Tally> truths(const pairs::Pair& pair) {
  auto generator = Context{}.generator("truth of " + pair.name());
  const int64_t n = 400'000;
  const Tensor g0 = pair.log_ratio(pair.sample_numerator(n, generator));
  const Tensor g1 = pair.log_ratio(pair.sample_denominator(n, generator));
  const double js = std::numbers::ln2 -
                    0.5 * (torch::softplus(-g0).mean() + torch::softplus(g1).mean()).item<double>();
  const double tv =
      ((g0 > 0).to(torch::kFloat64).mean() - (g1 > 0).to(torch::kFloat64).mean()).item<double>();
  return {{"KL(num, den)", pair.kl() ? *pair.kl() : g0.mean().item<double>()},
          {"KL(den, num)", -g1.mean().item<double>()},
          {"JS", js},
          {"TV", tv}};
}

std::vector<std::string> names(int64_t d) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < d; ++i) out.push_back(text("x", i));
  return out;
}

void print_uniformity(std::vector<double> p_values) {
  if (p_values.empty()) return;
  std::sort(p_values.begin(), p_values.end());
  const auto n = static_cast<double>(p_values.size());
  double distance = 0;
  for (size_t i = 0; i < p_values.size(); ++i)
    distance = std::max({distance, (static_cast<double>(i) + 1) / n - p_values[i],
                         p_values[i] - static_cast<double>(i) / n});
  // Kolmogorov's critical value at 1 %.
  std::printf("\np-values: Kolmogorov-Smirnov distance from uniform %.3f (1 %% level: %.3f)\n",
              distance, 1.628 / std::sqrt(n));
}

void run_pair(const Options& options, const std::string& name) {
  const pairs::Pair pair = pairs::pair_by_name(name);
  std::vector<Tally> tallies = truths(pair);
  std::vector<double> p_values;
  for (int64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    auto generator = Context{torch::kCPU, torch::kFloat64, static_cast<uint64_t>(seed)}.generator(
        "coverage of " + name);
    const Samples numerator = make_samples(pair.sample_numerator(options.rows, generator));
    const Samples denominator = make_samples(pair.sample_denominator(options.rows, generator));
    FitOptions fit = options.fit;
    fit.seed = seed;
    Progress silent;
    CrossFitOptions cross;
    cross.folds = options.folds;
    const CrossFit rated =
        cross_fit(numerator, denominator, names(pair.dimension()), cross, fit, silent);
    const TwoScores scores{rated.numerator.log_ratio, {}, rated.denominator.log_ratio, {}};
    Divergences found = measure_divergences(scores, rated.numerator.fold, rated.denominator.fold,
                                            false, options.level);
    const TwoSampleTest test = two_sample_test(numerator, denominator, names(pair.dimension()), fit,
                                               cross.fit_rows, 999, silent);
    allow_for_learning(found, scores, test.rated, test.numerator_rows, test.denominator_rows);
    if (test.p_value > 1 - options.level) include_zero(found);
    p_values.push_back(test.p_value);
    const Divergence* each[] = {&found.kl_numerator_denominator, &found.kl_denominator_numerator,
                                &found.jensen_shannon, &found.total_variation};
    for (size_t i = 0; i < tallies.size(); ++i) tallies[i].add(*each[i]);
    std::fprintf(stderr, "%s seed %d: slope %.2f, KL %.4f [%.4f, %.4f] of %.4f, p %.3f\n",
                 name.c_str(), static_cast<int>(seed), found.calibration.slope, each[0]->value,
                 each[0]->low, each[0]->high, tallies[0].truth, test.p_value);
  }
  for (const auto& tally : tallies)
    std::printf("| %s | %s | %.4f | %.4f | %.4f | %d/%d |\n", name.c_str(), tally.name, tally.truth,
                tally.sum / static_cast<double>(tally.seeds),
                tally.width / static_cast<double>(tally.seeds), static_cast<int>(tally.covered),
                static_cast<int>(tally.seeds));
  if (pair.kl() == 0.0) print_uniformity(p_values);
}

}  // namespace
}  // namespace dre::benchmarks

int main(int argc, char** argv) {
  dre::benchmarks::Options options;
  CLI::App app("Coverage of the confidence intervals of dre compare");
  app.add_option("--pairs", options.pairs, "pairs, separated by commas")->delimiter(',');
  app.add_option("--rows", options.rows, "rows a side")->capture_default_str();
  app.add_option("--seeds", options.seeds, "data seeds")->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "the first of them")->capture_default_str();
  app.add_option("--folds", options.folds, "folds")->capture_default_str();
  app.add_option("--steps", options.fit.train.steps, "steps of a fit")->capture_default_str();
  app.add_option("--batch", options.fit.train.batch, "rows of a step")->capture_default_str();
  app.add_option("--rate", options.fit.train.rate, "learning rate")->capture_default_str();
  app.add_option("--width", options.fit.score.width, "of the network")->capture_default_str();
  app.add_option("--patience", options.fit.train.patience, "steps")->capture_default_str();
  app.add_option("--method", options.fit.method, "how the ratio is learned")->capture_default_str();
  app.add_option("--level", options.level, "of the intervals")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("| pair | divergence | truth | mean estimate | mean width | covered |\n");
    std::printf("|---|---|---:|---:|---:|---:|\n");
    for (const auto& name : options.pairs) dre::benchmarks::run_pair(options, name);
  } catch (const dre::Error& error) {
    std::fprintf(stderr, "coverage: %s\n", error.what());
    return error.kind() == dre::Error::Kind::usage ? 2 : 3;
  }
}
