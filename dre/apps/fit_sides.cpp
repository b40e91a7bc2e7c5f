#include "dre/apps/fit_sides.h"

#include <ATen/Parallel.h>

#include "dre/apps/fit_diagnostics.h"
#include "dre/base/error.h"
#include "dre/base/version.h"
#include "dre/numeric/measured.h"

namespace dre {
namespace {

nlohmann::json training_record(const MemberReport& report, double weight) {
  const TrainResult& training = report.training;
  nlohmann::json curve = nlohmann::json::array();
  for (const auto& point : training.curve)
    curve.push_back({point.step, point.train, point.held_out});
  nlohmann::json out = {{"method", report.method},
                        {"bridge", report.bridge},
                        {"kept", report.kept},
                        {"weight", weight},
                        {"status", describe(training.status)},
                        {"steps", training.steps},
                        {"best_step", training.best_step},
                        {"best_loss", training.best_loss},
                        {"gain", to_json(training.gain)},
                        {"held_out_logistic", report.held_out_logistic},
                        {"curve", curve}};
  if (!training.curve.empty()) out["first_loss"] = training.curve.front().held_out;
  return out;
}

/// Everything about the fit that does not change when it is repeated: no times, no dates.
nlohmann::json fit_record(const Sides& sides, const FitOptions& options,
                          const FitSidesResult& found) {
  const FitResult& result = found.fit;
  nlohmann::json training = nlohmann::json::array();
  for (size_t i = 0; i < result.members.size(); ++i)
    training.push_back(training_record(result.members[i], result.estimator.members()[i].weight));
  return {{"options", to_json(options)},
          {"data", sides.description},
          {"cells", result.estimator.cells.size()},
          {"training", training},
          {"seed", options.seed},
          {"device", result.estimator.context().device.str()},
          {"threads", at::get_num_threads()},
          {"dre_version", version()},
          {"torch_version", torch_version()},
          {"diagnostics", to_json(found.diagnostics)},
          {"warnings", warnings_json(found.warnings)}};
}

std::vector<Warning> judge_training(const FitResult& result) {
  std::vector<Warning> warnings;
  for (const auto& report : result.members)
    if (report.training.status == TrainResult::Status::not_finite)
      warnings.push_back({"training-diverged",
                          text("the loss of ", report.method, " left the finite numbers at step ",
                               report.training.steps, "; the best weights before that are kept")});
  return warnings;
}

}  // namespace

FitSidesResult fit_sides(const Sides& sides, const FitOptions& options, Progress& progress,
                         const Checkpointing& checkpointing) {
  FitSidesResult out{
      fit(sides.numerator, sides.denominator, sides.names, options, progress, checkpointing),
      {},
      {}};
  if (out.fit.interrupted) return out;
  out.diagnostics = diagnose_fit(out.fit, sides, options, progress);
  out.warnings = sides.warnings;
  for (const auto& more : {judge_training(out.fit), out.diagnostics.warnings})
    out.warnings.insert(out.warnings.end(), more.begin(), more.end());
  out.fit.estimator.encoding = sides.encoding;
  out.fit.estimator.record = fit_record(sides, options, out);
  return out;
}

}  // namespace dre
