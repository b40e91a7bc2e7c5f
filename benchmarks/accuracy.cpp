/// Compares methods on the suite of pairs with known log ratios:
///
///     accuracy --pairs gaussian-2d,mixture-10 --methods gaussian-plug-in --seeds 3 --out a.json
///
/// prints a line a fit to standard error and a Markdown table to standard output.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "benchmarks/measure.h"
#include "benchmarks/pairs/suite.h"
#include "benchmarks/results.h"
#include "dre/base/context.h"
#include "dre/base/threads.h"

namespace dre::benchmarks {
namespace {

struct Options {
  std::vector<std::string> pairs = names_of(pairs::pair_table());
  std::vector<std::string> methods = names_of(method_table());
  int64_t rows = 10'000;
  int64_t seeds = 3;
  std::string out;
};

PairLine describe(const pairs::Pair& pair) {
  auto generator = Context{}.generator(pair.name());
  const Tensor x = pair.sample_numerator(10'000, generator);
  return {pair.name(), pair.dimension(),
          pair.kl() ? *pair.kl() : pair.log_ratio(x).mean().item<double>()};
}

/// Nothing when the method gave up: the cell stays empty and a later run tries it again.
std::optional<Score> attempt(const Cell& cell, const pairs::Pair& pair, const Method& method) {
  std::fprintf(stderr, "%s, %s, seed %d: ", cell.pair.c_str(), cell.method.c_str(),
               static_cast<int>(cell.seed));
  try {
    const Score score = measure(pair, method, cell.rows, cell.seed);
    std::fprintf(stderr, "MSE %.4g in %.2f s\n", score.mse, score.seconds);
    return score;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    return std::nullopt;
  }
}

int run(const Options& options) {
  Results results(options.out);
  Selection selection{{}, options.methods, options.rows, options.seeds};
  for (const auto& name : options.methods) method_by_name(name);
  for (const auto& name : options.pairs)
    selection.pairs.push_back(describe(pairs::pair_by_name(name)));

  bool complete = true;
  for (int64_t seed = 0; seed < options.seeds; ++seed)
    for (const auto& name : options.pairs) {
      const pairs::Pair pair = pairs::pair_by_name(name);
      for (const auto& method : options.methods) {
        const Cell cell{name, method, options.rows, static_cast<uint64_t>(seed)};
        if (results.has(cell)) continue;
        const auto score = attempt(cell, pair, method_by_name(method));
        if (score) results.add(cell, *score);
        complete &= score.has_value();
      }
    }
  std::cout << markdown(results, selection);
  return complete ? 0 : 4;
}

}  // namespace
}  // namespace dre::benchmarks

int main(int argc, char** argv) {
  dre::use_threads(0);
  dre::benchmarks::Options options;
  CLI::App app("Mean squared error of log density ratios on pairs with known truth");
  app.add_option("--pairs", options.pairs, "pairs, separated by commas; default all")
      ->delimiter(',');
  app.add_option("--methods", options.methods,
                 "methods, separated by commas, each with options if wanted, as in time:batch=256; "
                 "default all")
      ->delimiter(',');
  app.add_option("--rows", options.rows, "training rows a side")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{2}, int64_t{100'000'000}));
  app.add_option("--seeds", options.seeds, "data seeds, from 0")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{100'000}));
  app.add_option("--out", options.out, "JSON file of results; cells already in it are not redone");
  CLI11_PARSE(app, argc, argv);
  try {
    return dre::benchmarks::run(options);
  } catch (const dre::Error& error) {
    std::fprintf(stderr, "accuracy: %s\n", error.what());
    return error.kind() == dre::Error::Kind::usage ? 2 : 3;
  }
}
