#include "dre/energy/anneal.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/data/mnist.h"
#include "dre/energy/log_ratio.h"

namespace dre {
namespace {

/// Images in the latent space of the noise model, where chains run.
struct Placed {
  Tensor z;                ///< [n, d]
  Tensor log_determinant;  ///< [n], of the whole way from pixels to z
  Tensor bits;             ///< [n], of the unnormalised density; float64, host
};

/// Nothing but what was done so far where a stop is asked for.
Placed place(const EnergyModel& model, const Tensor& pixels, const EnergyEvaluateOptions& options,
             at::Generator& generator, Progress& progress) {
  std::vector<Tensor> z, log_determinant, bits;
  progress.begin("energies of the images", pixels.size(0));
  const int64_t together = rows_together(model, options.rows_at_once);
  for (const Tensor& block : pixels.split(together)) {
    const Logits logits = dequantise(block, generator, model.context().dtype);
    const Moved latent = model.noise().to_latent(logits.x);
    z.push_back(latent.point);
    log_determinant.push_back(latent.log_determinant + logits.log_determinant);
    const Tensor log_prob =
        standard_normal_log_prob(latent.point) +
        energy_log_ratio(model, model.space().of_latent(latent.point), options.nodes);
    bits.push_back(bits_per_dimension(log_prob, log_determinant.back(), model.dimension())
                       .to(torch::kCPU, torch::kFloat64));
    progress.advance(static_cast<int64_t>(z.size()) * together, "");
    if (progress.stop_requested()) break;
  }
  progress.end();
  return {at::cat(z), at::cat(log_determinant), at::cat(bits)};
}

Measured sum(const Measured& one, const Measured& other) {
  return {one.value + other.value, std::hypot(one.standard_error, other.standard_error)};
}

/// `count` of `all` rows, evenly spread: [count], int64, host.
Tensor evenly(int64_t count, int64_t all) {
  return at::floor_divide(at::arange(count, torch::kInt64) * all, count);
}

/// Rows for the pilot run of the way back: evenly from those that are not annealed, from all where
/// there are hardly others.
Tensor pilot_rows(const Tensor& annealed, int64_t all, int64_t chains) {
  Tensor free = at::ones({all}, torch::kBool);
  free.index_fill_(0, annealed, false);
  Tensor others = free.nonzero().squeeze(1);
  if (others.size(0) < 2) others = at::arange(all, torch::kInt64);
  return others.index_select(0, evenly(std::min(chains, others.size(0)), others.size(0)));
}

/// Everything but the bits.
EnergyAnnealReport plain_figures(const AisResult& forward, const RaiseResult& backward) {
  EnergyAnnealReport report;
  report.steps = forward.steps;
  report.raise_rows = backward.values.size(0);
  report.log_normaliser = {forward.log_normaliser, forward.standard_error};
  report.effective_chains = forward.effective_chains;
  report.ais_acceptance = forward.acceptance;
  report.raise_acceptance = backward.acceptance;
  report.finished = forward.finished && backward.finished;
  return report;
}

constexpr double noticed_bits = 0.01, noticed_change = 0.001;

double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

EnergyAnnealReport anneal_energy(const EnergyModel& model, const Tensor& pixels,
                                 const EnergyEvaluateOptions& options,
                                 const EnergyAnnealOptions& anneal, const Context& context,
                                 Progress& progress) {
  const torch::NoGradGuard no_grad;
  const InPrecision full(model.network(), false);  // the tilt's forces go by options.half
  const int64_t d = model.dimension(), all = pixels.size(0);
  const int64_t some = options.rows > 0 ? std::min(options.rows, all) : all;
  auto noise = context.device_generator("annealing");
  auto chains = context.device_generator(text("chains, ", anneal.steps, " temperatures"));
  const Placed images = place(model, pixels, options, noise, progress);
  EnergyAnnealReport report;
  report.finished = !progress.stop_requested();
  if (!report.finished) return report;
  const Tensor rows = evenly(some, all), rows_there = rows.to(pixels.device());
  const Tensor pilots = pilot_rows(rows, all, anneal.chains).to(pixels.device());
  const auto where = model.context().options();
  const auto tilt = make_tilt(model, options, anneal);
  const Route there = pilot_run(*tilt, d, anneal, where, chains, progress);
  const AisResult forward = ais(*tilt, d, there, anneal, where, chains, progress);
  const Route back_again =
      pilot_run_back(*tilt, images.z.index_select(0, pilots), anneal, chains, progress);
  const RaiseResult backward =
      raise(*tilt, images.z.index_select(0, rows_there), back_again, anneal, chains, progress);
  const double nats = nats_of_a_bit(d);
  report = plain_figures(forward, backward);
  report.samples = model.space().of_latent(forward.points);
  const Tensor back =
      images.log_determinant.index_select(0, rows_there).to(backward.values.options());
  const Tensor annealed = bits_per_dimension(backward.values, back, d);
  // What the images share cancels in the difference of the bounds; the unnormalised bits, known of
  // all images, carry RAISE over to them.
  const Measured base = mean_of(images.bits);
  const Measured below{forward.log_normaliser / nats, forward.standard_error / nats};
  const Measured above = mean_of(annealed - images.bits.index_select(0, rows));
  report.ais = sum(base, below);
  report.raise = some == all ? mean_of(annealed) : sum(base, above);
  report.crossing = {report.ais.value - report.raise.value,
                     std::hypot(below.standard_error, above.standard_error)};
  return report;
}

AnnealedSamples annealed_samples(const EnergyModel& model, int64_t count,
                                 const EnergyEvaluateOptions& options, EnergyAnnealOptions anneal,
                                 at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  const auto where = model.context().options();
  anneal.chains = std::max<int64_t>(2, count);
  const auto tilt = make_tilt(model, options, anneal);
  const Route route = pilot_run(*tilt, model.dimension(), anneal, where, generator, progress);
  const AisResult result = ais(*tilt, model.dimension(), route, anneal, where, generator, progress);
  AnnealedSamples out;
  out.finished = result.finished;
  if (!out.finished) return out;
  out.points = model.space().of_latent(result.points.slice(0, 0, count));
  out.chains = anneal.chains;
  out.effective_chains = result.effective_chains;
  out.acceptance = result.acceptance;
  out.log_normaliser = {result.log_normaliser, result.standard_error};
  return out;
}

std::vector<Warning> judge_annealing(const EnergyAnnealReport& report, int64_t dimension) {
  constexpr double few_chains = 3;
  const double nats = nats_of_a_bit(dimension);
  const double surely = report.log_normaliser.value - 3 * report.log_normaliser.standard_error;
  std::vector<Warning> warnings;
  // Z by AIS is right on average, so that it is hardly ever far too large; it may be too small.
  if (surely > noticed_bits * nats)
    warnings.push_back(
        {"not-normalised",
         text("the energy is not normalised: its log Z is ", rounded(report.log_normaliser.value),
              " nats or more, which makes ", rounded(report.log_normaliser.value / nats),
              " bits more than the corrected figure, at least ", rounded(report.ais.value))});
  if (report.effective_chains < few_chains)
    warnings.push_back(
        {"few-chains", text("AIS hangs on ", rounded(report.effective_chains),
                            " of its chains: its error is larger than the one shown; give more "
                            "--anneal-steps or --chains")});
  const Measured& crossing = report.crossing;
  if (crossing.value > noticed_change && crossing.value > 3 * crossing.standard_error)
    warnings.push_back(
        {"crossed-bounds", text("AIS, a lower bound, is ", rounded(crossing.value),
                                " bits above RAISE, about an upper one: annealing was too fast, "
                                "or a few chains misled it; give more --anneal-steps")});
  return warnings;
}

std::vector<Warning> judge_doubling(const EnergyAnnealReport& once, const EnergyAnnealReport& twice,
                                    int64_t dimension) {
  const Measured &before = once.log_normaliser, &after = twice.log_normaliser;
  const double change = after.value - before.value;
  const double error = std::hypot(before.standard_error, after.standard_error);
  const double least = noticed_change * nats_of_a_bit(dimension);
  if (!(std::abs(change) > least && std::abs(change) > 3 * error)) return {};
  return {{"few-temperatures",
           text("twice as many temperatures change log Z by ", rounded(change),
                " nats, more than its errors: annealing is too fast; give more --anneal-steps")}};
}

nlohmann::json to_json(const AnnealedSamples& samples) {
  return {{"chains", samples.chains},
          {"effective_chains", samples.effective_chains},
          {"acceptance", samples.acceptance},
          {"log_normaliser", to_json(samples.log_normaliser)}};
}

nlohmann::json to_json(const EnergyAnnealReport& report) {
  return {{"steps", report.steps},
          {"images_annealed_backwards", report.raise_rows},
          {"ais", to_json(report.ais)},
          {"raise", to_json(report.raise)},
          {"ais_less_raise", to_json(report.crossing)},
          {"log_normaliser", to_json(report.log_normaliser)},
          {"effective_chains", report.effective_chains},
          {"ais_acceptance", report.ais_acceptance},
          {"raise_acceptance", report.raise_acceptance}};
}

}  // namespace dre
