#include "experiments/gaussian_2d/rows.h"

#include "dre/base/error.h"

namespace dre::experiments {

const std::vector<PaperRow>& paper_rows() {
  static const std::vector<PaperRow> rows = {{"NCE", "nce", 0, 952.8, {}},
                                             {"TRE(4)", "tre", 4, 1.1, 2.8},
                                             {"TRE(9)", "tre", 9, 0.63, 1.8},
                                             {"Time", "time", 0, 0.58, 1.0},
                                             {"Joint", "joint", 0, 0.35, 0.6}};
  return rows;
}

std::vector<Sweep> sweeps() {
  std::vector<Sweep> all;
  for (const int64_t batch : {128, 256})
    for (const int64_t width : {128, 256})
      for (const double rate : {2e-4, 5e-4, 1e-3}) all.push_back({batch, width, rate});
  return all;
}

PaperMethod paper_method(const PaperRow& row, const Sweep& sweep, const Settings& settings) {
  PaperMethod method;
  method.method = row.method;
  const bool tre = method.method == "tre", nce = method.method == "nce";
  method.score.width = sweep.width;
  method.score.depth = tre ? 2 : 3;
  method.score.activation = tre ? "leaky-relu" : "elu";
  method.score.bridges = std::max<int64_t>(1, row.bridges);
  method.bridge = nce ? "linear" : "vpsde";  // NCE sees the two sides only
  method.train.batch = sweep.batch;
  method.train.rate = sweep.rate;
  method.train.steps = settings.pick(12'000, 200);
  method.train.patience = settings.pick(4'000, 0);
  method.train.average = 0.999;
  method.train.evaluate_every = settings.pick(100, 50);
  return method;
}

std::string sweep_row(const PaperRow& row, const Sweep& sweep) {
  return text(row.name, ", batch ", sweep.batch, ", width ", sweep.width, ", rate ", sweep.rate);
}

std::vector<LibraryMethod> library_methods(const Settings& settings) {
  const int64_t steps = settings.pick(4000, 200);
  if (settings.size == Size::quick)
    return {
        {"auto", "gaussian", steps}, {"which-time", "none", steps}, {"velocity", "none", steps}};
  std::vector<LibraryMethod> all;
  for (const char* method : {"auto", "which-time", "which-time-continuous", "tre", "conditional",
                             "conditional-vector", "velocity", "time", "joint"})
    for (const char* reference : {"gaussian", "none"}) all.push_back({method, reference, steps});
  return all;
}

std::string library_row(const LibraryMethod& method) {
  const bool with = method.reference == "gaussian";
  return text(method.method == "auto" ? "default (auto)" : method.method,
              with ? "" : ", without reference");
}

}  // namespace dre::experiments
