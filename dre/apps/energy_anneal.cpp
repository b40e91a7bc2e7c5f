#include "dre/apps/energy_anneal.h"

#include <cmath>

#include "dre/data/mnist.h"

namespace dre {
namespace {

Tensor log_ratios(const EnergyModel& model, const Tensor& z, const EnergyEvaluateOptions& options) {
  std::vector<Tensor> parts;
  for (const Tensor& block : z.split(options.rows_at_once))
    parts.push_back(energy_log_ratio(model, block, options.nodes));
  return at::cat(parts);
}

}  // namespace

EnergyAnnealReport anneal_energy(const EnergyModel& model, const Tensor& pixels,
                                 const EnergyEvaluateOptions& options, const AnnealOptions& anneal,
                                 at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  model.network().set_half(options.half);
  const int64_t d = model.dimension();
  const Tensor rows = options.rows > 0 ? pixels.slice(0, 0, options.rows) : pixels;
  const Logits logits = dequantise(rows, generator, model.context().dtype);
  const Moved latent = model.noise().to_latent(logits.x);
  const LogRatioFunction log_ratio =
      differentiated([&](const Tensor& z) { return energy_log_ratio(model, z, options.nodes); });
  const auto where = model.context().options();
  const StepSizes sizes = pilot_run(log_ratio, d, anneal, where, generator);
  const AisResult forward = ais(log_ratio, d, sizes, anneal, where, generator, progress);
  const RaiseResult backward = raise(log_ratio, latent.point, sizes, anneal, generator, progress);
  const Tensor unnormalised = standard_normal_log_prob(latent.point) + latent.log_determinant +
                              log_ratios(model, latent.point, options);
  const double nats = static_cast<double>(d) * std::log(2.0);
  EnergyAnnealReport report;
  report.steps = anneal.steps;
  report.ais = mean_bits(bits_per_dimension(unnormalised, logits.log_determinant, d));
  report.ais.value += forward.log_normaliser / nats;
  report.ais.error = std::hypot(report.ais.error, forward.standard_error / nats);
  const Tensor annealed = backward.values.to(where) + latent.log_determinant;
  report.raise = mean_bits(bits_per_dimension(annealed, logits.log_determinant, d));
  report.log_normaliser = forward.log_normaliser;
  report.log_normaliser_error = forward.standard_error;
  report.effective_chains = forward.effective_chains;
  report.ais_acceptance = forward.acceptance;
  report.raise_acceptance = backward.acceptance;
  report.finished = forward.finished && backward.finished;
  report.samples = forward.points;
  return report;
}

nlohmann::json to_json(const EnergyAnnealReport& report) {
  return {{"steps", report.steps},
          {"ais", {{"value", report.ais.value}, {"standard_error", report.ais.error}}},
          {"raise", {{"value", report.raise.value}, {"standard_error", report.raise.error}}},
          {"log_normaliser",
           {{"value", report.log_normaliser}, {"standard_error", report.log_normaliser_error}}},
          {"effective_chains", report.effective_chains},
          {"ais_acceptance", report.ais_acceptance},
          {"raise_acceptance", report.raise_acceptance}};
}

}  // namespace dre
