/// The cells of the experiment on MNIST: fit a noise model, fit and evaluate an energy model,
/// anneal one. Each leaves its model in a file for the cells after it, and goes on from its own
/// checkpoint.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "dre/data/mnist.h"
#include "experiments/mnist/plan.h"

namespace dre::experiments::mnist {

/// The images, read when a cell first asks for them.
class Images final {
 public:
  Images(std::string folder, Rows rows) : folder_(std::move(folder)), rows_(rows) {}

  const MnistSplit& split() const;

 private:
  std::string folder_;
  Rows rows_;
  mutable std::once_flag read_;
  mutable MnistSplit split_;
};

/// Where cells find their images and leave their models.
struct Place {
  std::shared_ptr<const Images> images;
  std::string files;

  /// "FILES/velocity-from-copula-seed0.safetensors"
  std::string model_file(const std::string& row, uint64_t seed) const;
};

/// Bits of the test images, training, and a picture of samples.
Json run_noise(const NoisePlan& plan, const Place& place, const Context& context,
               Progress& progress);

/// Bits of the test images by every path the model has, training, looks at it, samples by the flow.
Json run_fit(const FitPlan& plan, const Place& place, const Context& context, Progress& progress);

/// AIS and RAISE, samples by AIS, and how far `nodes` are from those of the evaluation.
Json run_anneal(const AnnealPlan& plan, const Place& place, const Context& context,
                Progress& progress);

}  // namespace dre::experiments::mnist
