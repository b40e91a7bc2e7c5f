/// One training step of the parametric joint model for mutual information: forward, loss and
/// backward, with one eigendecomposition for the whole batch. The counterpart of
/// mutual_information_step.py, which inverts a matrix for every row.
///
/// Usage: mutual_information_step [d [batch [repetitions]]]
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "dre/base/version.h"
#include "dre/network/parametric_gaussian.h"
#include "dre/objective/score_matching.h"
#include "dre/score/time_scores.h"

namespace {

using dre::Tensor;

/// Median milliseconds of a step.
double measure(int64_t d, int64_t batch, int64_t repetitions) {
  const dre::Context context;
  const dre::BridgePtr bridge = dre::make_bridge("arithmetic");
  const auto network =
      std::make_shared<dre::ParametricGaussian>(dre::ParametricGaussianOptions{d}, context);
  network->parameters().flatten();
  const dre::JointScore score({network, bridge, nullptr, d});
  const dre::JointObjective objective(score, dre::TimeWeight("noise", bridge),
                                      dre::JointObjective::DataTerm::sliced,
                                      dre::Matching::boundary);
  auto generator = context.generator("rows");
  std::vector<double> milliseconds;
  for (int64_t i = 0; i < repetitions; ++i) {
    const auto draw = [&] { return dre::normal({batch, d}, context.options(), generator); };
    const dre::Batch rows{draw(), draw()};
    const Tensor t =
        objective.interval().to * dre::uniform({batch, 1}, context.options(), generator);
    const auto begin = std::chrono::steady_clock::now();
    network->parameters().zero_gradient();
    dre::row_losses(objective.terms(rows, t, generator)).mean().backward();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(elapsed.count());
    // A new parameter, as after an optimiser's step: the decomposition is made anew.
    torch::NoGradGuard no_grad;
    network->parameters().flat().add_(network->parameters().flat_gradient(), -1e-3);
  }
  std::nth_element(milliseconds.begin(), milliseconds.begin() + repetitions / 2,
                   milliseconds.end());
  return milliseconds[repetitions / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t usual) {
    return argc > i ? std::atoll(argv[i]) : usual;
  };
  const int64_t d = argument(1, 160), batch = argument(2, 512), repetitions = argument(3, 20);
  std::printf(
      "one eigendecomposition a batch: d %ld, batch %ld, %d threads, LibTorch %s: %.1f ms a "
      "step (median of %ld)\n",
      static_cast<long>(d), static_cast<long>(batch), at::get_num_threads(),
      dre::torch_version().c_str(), measure(d, batch, repetitions), static_cast<long>(repetitions));
}
