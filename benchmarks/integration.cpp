/// Compares the integrators on the time scores of fitted models:
///
///     integration --pairs gaussian-2d,mixture-10 --methods time,velocity --steps 1000
///
/// Evaluations a row and the error against 400 Gauss-Legendre nodes, as a Markdown table on
/// standard output. The Runge-Kutta line is the paper's protocol. `--rows-out` adds a csv file with
/// a line for each row.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "benchmarks/pairs/suite.h"
#include "dre/apps/fit.h"
#include "dre/base/threads.h"

namespace dre::benchmarks {
namespace {

struct Options {
  std::vector<std::string> pairs = {"gaussian-2d", "mixture-2", "mixture-10", "mi-gaussian-40"};
  std::vector<std::string> methods = {"time", "conditional", "velocity"};
  std::vector<std::string> integrators = integrator_names();
  std::string reference = "gaussian";
  std::string activation = "silu";
  int64_t train_rows = 10'000;
  int64_t test_rows = 500;
  int64_t steps = 1000;
  int64_t width = 256;
  int64_t seed = 0;
  int64_t max_evaluations = IntegrateOptions{}.max_evaluations;
  std::string rows_out;
};

struct Row {
  double mean_evaluations, mean_error, max_error, claimed_error;
  int64_t max_evaluations;
};

FitResult fit_pair(const pairs::Pair& pair, const std::string& method, const Options& options) {
  const Context context =
      Context{torch::kCPU, torch::kFloat64, static_cast<uint64_t>(options.seed)}.child(pair.name());
  auto numerator = context.generator("numerator"), denominator = context.generator("denominator");
  FitOptions fitting;
  fitting.method = method;
  fitting.reference = options.reference;
  fitting.device = "cpu";
  fitting.seed = options.seed;
  fitting.train.steps = options.steps;
  fitting.score.width = options.width;
  fitting.score.activation = options.activation;
  std::vector<std::string> names;
  for (int64_t i = 0; i < pair.dimension(); ++i) names.push_back(text("x", i));
  Progress silent;
  return fit(make_samples(pair.sample_numerator(options.train_rows, numerator)),
             make_samples(pair.sample_denominator(options.train_rows, denominator)), names, fitting,
             silent);
}

/// The residual that the horizontal path integrates, for the rows x in the score's coordinates.
Integral integrate_residual(const Score& score, const Tensor& x, const IntegrateOptions& options) {
  const auto* time = ability<TimeScore>(score);
  check(time, "this method has no time score to integrate");
  const RowIntegrand residual = [&](const Tensor& rows, const Tensor& t) {
    return time->time_residual(x.index_select(0, rows), t.unsqueeze(1)).value;
  };
  const Interval range = score.bridge().interval();
  return integrate(residual, x.size(0), range.to, range.from, options, x.options());
}

Row compare(const Integral& got, const Tensor& exact) {
  const Tensor error = (got.value - exact).abs();
  return {got.row_evaluations.to(torch::kFloat64).mean().item<double>(),
          error.mean().item<double>(), error.max().item<double>(), got.error.max().item<double>(),
          got.evaluations};
}

void write_rows(const Integral& got, const Tensor& exact, const std::string& label,
                std::ostream& out) {
  for (int64_t i = 0; i < exact.size(0); ++i)
    out << label << ',' << got.row_evaluations[i].item<int64_t>() << ','
        << got.value[i].item<double>() << ',' << got.error[i].item<double>() << ','
        << (got.value[i] - exact[i]).abs().item<double>() << '\n';
}

void run_model(const std::string& pair_name, const std::string& method, const Options& options) {
  const torch::NoGradGuard no_grad;
  const pairs::Pair pair = pairs::pair_by_name(pair_name);
  const FitResult fitted = [&] {
    const at::AutoGradMode with_gradients(true);
    return fit_pair(pair, method, options);
  }();
  const Score& score = *fitted.estimator.members().front().score;
  auto stream = Context{}.generator("test " + pair_name);
  const Tensor test = pair.sample_test(options.test_rows, stream);
  const Tensor x = fitted.estimator.coordinates().forward(test, torch::kFloat32);
  IntegrateOptions choice;
  choice.method = "legendre";
  choice.nodes = 400;
  const Tensor exact = integrate_residual(score, x, choice).value;
  choice.nodes = 31;
  choice.max_evaluations = options.max_evaluations;
  for (const auto& name : options.integrators) {
    choice.method = name;
    const Integral got = integrate_residual(score, x, choice);
    const Row row = compare(got, exact);
    if (!options.rows_out.empty()) {
      std::ofstream out(options.rows_out, std::ios::app);
      write_rows(got, exact, pair_name + ',' + method + ',' + name, out);
    }
    std::printf("| %s | %s | %s | %d | %.1f | %.1e | %.1e | %.1e |\n", pair_name.c_str(),
                method.c_str(), name.c_str(), static_cast<int>(row.max_evaluations),
                row.mean_evaluations, row.max_error, row.mean_error, row.claimed_error);
    std::fflush(stdout);
  }
}

void run(const Options& options) {
  std::printf(
      "| pair | method | integrator | most evaluations | mean evaluations | largest error | mean "
      "error | largest estimate |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& pair : options.pairs)
    for (const auto& method : options.methods) run_model(pair, method, options);
}

}  // namespace
}  // namespace dre::benchmarks

int main(int argc, char** argv) {
  dre::use_threads(0);
  dre::benchmarks::Options options;
  CLI::App app("Cost and error of the integrators on fitted models");
  const auto list = [&](const char* flag, std::vector<std::string>& value, const char* help) {
    app.add_option(flag, value, help)->delimiter(',')->capture_default_str();
  };
  list("--pairs", options.pairs, "pairs, separated by commas");
  list("--methods", options.methods, "methods with a time score");
  list("--integrators", options.integrators, "integrators");
  app.add_option("--reference", options.reference, "gaussian or none")->capture_default_str();
  app.add_option("--activation", options.activation, "of the networks")->capture_default_str();
  app.add_option("--rows", options.train_rows, "rows a side to fit on")->capture_default_str();
  app.add_option("--test-rows", options.test_rows, "rows to integrate")->capture_default_str();
  app.add_option("--steps", options.steps, "optimizer steps")->capture_default_str();
  app.add_option("--width", options.width, "of the networks")->capture_default_str();
  app.add_option("--max-evaluations", options.max_evaluations, "of a row")->capture_default_str();
  app.add_option("--rows-out", options.rows_out,
                 "csv to append to: pair,method,integrator,evaluations,value,estimate,error");
  app.add_option("--seed", options.seed, "seed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    dre::benchmarks::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
