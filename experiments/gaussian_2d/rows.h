/// The rows of the 2-D experiments: the paper's methods with its figures, its sweep, the library's.
#pragma once

#include <optional>

#include "experiments/gaussian_2d/methods.h"

namespace dre::experiments {

/// A row of the paper's figures: MSE on the pair's own rows and on the shifted ones.
struct PaperRow {
  const char* name;
  const char* method;
  int64_t bridges;
  std::optional<double> mse, shifted_mse;
};

const std::vector<PaperRow>& paper_rows();

struct Sweep {
  int64_t batch, width;
  double rate;
};

constexpr Sweep usual_setting{256, 256, 1e-3};

/// What the paper swept over.
std::vector<Sweep> sweeps();

PaperMethod paper_method(const PaperRow& row, const Sweep& sweep, const Settings& settings);
std::string sweep_row(const PaperRow& row, const Sweep& sweep);

/// The library's methods, the default first.
std::vector<LibraryMethod> library_methods(const Settings& settings);
std::string library_row(const LibraryMethod& method);

constexpr const char* pooled_row = "Gaussian plug-in, pooled";
constexpr const char* separate_row = "Gaussian plug-in, separate";

}  // namespace dre::experiments
