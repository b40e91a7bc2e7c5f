/// Scoring throughput, in one run: rows a second of log-ratios from fitted-size models against the
/// bound that the matrix products of their network evaluations alone would set at the measured
/// sgemm speed.
///
/// Usage: scoring [rows [repetitions]]
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "dre/apps/fit.h"
#include "dre/base/threads.h"
#include "dre/base/version.h"

namespace {

using dre::Tensor;

constexpr int64_t columns = 10;

double median_seconds(const std::function<void()>& work, int repetitions) {
  std::vector<double> seconds;
  for (int i = -1; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= 0) seconds.push_back(elapsed.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

/// Floating-point operations a second of [8192, width] x [width, width] products.
double sgemm_speed(int64_t width, int repetitions) {
  const Tensor in = at::ones({8192, width}), weight = at::ones({width, width});
  Tensor out = at::empty({8192, width});
  const double seconds = median_seconds([&] { at::mm_out(out, in, weight); }, 20 * repetitions);
  return 2.0 * 8192 * static_cast<double>(width * width) / seconds;
}

/// A quickly fitted model of two Gaussians that differ in every column.
dre::FitResult fitted(const std::string& method) {
  const dre::Context context{torch::kCPU, torch::kFloat64, 1};
  auto generator = context.generator("rows");
  const Tensor x0 = dre::normal({2000, columns}, context.options(), generator) * 1.3 + 0.3;
  const Tensor x1 = dre::normal({2000, columns}, context.options(), generator);
  std::vector<std::string> names;
  for (int64_t i = 0; i < columns; ++i) names.push_back(dre::text("x", i));
  dre::FitOptions options;
  options.method = method;
  options.device = "cpu";
  options.guard = 0;
  options.train.steps = 200;
  dre::Progress silent;
  return dre::fit(dre::make_samples(x0), dre::make_samples(x1), names, options, silent);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 100000;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const dre::ScoreOptions shape;
  const double speed = sgemm_speed(shape.width, repetitions);
  dre::use_threads(0);
  std::printf("%d threads, LibTorch %s; sgemm at width %ld: %.0f GFLOP/s\n\n",
              at::get_num_threads(), dre::torch_version().c_str(), long(shape.width), speed * 1e-9);
  std::printf("| method | evaluations a row | rows a second | bound by the products | share |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  auto generator = dre::Context{}.generator("scored");
  const Tensor x = dre::normal({rows, columns}, torch::kFloat64, generator);
  for (const char* method : {"which-time", "tre", "auto", "time", "velocity"}) {
    const dre::FitResult result = fitted(method);
    dre::Estimate estimate;
    const double seconds =
        median_seconds([&] { estimate = result.estimator.log_ratio(x); }, repetitions);
    const auto members = static_cast<double>(result.estimator.members().size());
    const double flops = 2.0 * static_cast<double>((shape.depth - 1) * shape.width * shape.width);
    const double evaluations = members * static_cast<double>(estimate.evaluations);
    const double bound = speed / (flops * evaluations);
    const double reached = static_cast<double>(rows) / seconds;
    std::printf("| %s | %.0f at most | %.0f | %.0f | %.0f %% |\n", method, evaluations, reached,
                bound, 100 * reached / bound);
    std::fflush(stdout);
  }
}
