#include "dre/sampling/route.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

/// Transitions at one temperature of a pilot run, at least and at most: chains that lag behind the
/// target would call for steps that are too long.
constexpr int64_t fewest_tries = 5, most_tries = 30;

/// Where knot i of 0 ... last lies.
double knot(int64_t i, int64_t last) {
  const double root = static_cast<double>(i) / static_cast<double>(last);
  return root * root;
}

/// Chains that look for the step size at one knot after the other.
class Pilot {
 public:
  Pilot(const AnnealOptions& options, const torch::TensorOptions& where, at::Generator& generator,
        Progress& progress)
      : options_(options),
        generator_(generator),
        progress_(progress),
        step_(at::full({}, options.first_step, where.requires_grad(false))) {}

  /// Brings a start up to a thousand times too large or too small near its place, by tries from
  /// where the chains are, until one passes it; the chains stay there.
  void burn_in(Tilt& tilt, Chains chains) {
    chains.force = tilt.force(chains.z, chains.beta);  // once for all tries
    const auto most = static_cast<int64_t>(std::log(1000.0) / std::log1p(options_.adaptation));
    progress_.begin("finding a first step", most);
    bool longer = false;
    for (int64_t i = 0; i < most && !progress_.stop_requested(); ++i) {
      Chains tried = chains;
      const bool before = longer;
      longer = move(tilt, tried).item<double>() > options_.acceptance;
      progress_.advance(i + 1, "");
      if (i > 0 && longer != before) break;
    }
    progress_.end();
  }

  /// Takes the chains from β = 0 to 1, or back.
  Route walk(Tilt& tilt, Chains chains, bool back) {
    const int64_t last = options_.pilot_steps;
    std::vector<Tensor> sizes(last + 1, step_);
    std::vector<Tensor> spread(last + 1, at::zeros({}, step_.options().dtype(torch::kFloat64)));
    progress_.begin(back ? "finding the way back" : "finding the way", last);
    for (int64_t i = 0; i <= last && !progress_.stop_requested(); ++i) {
      const int64_t here = back ? last - i : i;
      change_beta(tilt, chains, knot(here, last));
      settle(tilt, chains);
      sizes[here] = step_;
      spread[here] = spread_towards(knot(here < last ? here + 1 : here - 1, last), tilt, chains);
      progress_.advance(i, "");
    }
    progress_.end();
    return {at::stack(sizes), at::stack(spread)};
  }

 private:
  /// The standard deviation of dL_β/dβ over the chains, from the difference to a neighbour's β.
  static Tensor spread_towards(double beta, Tilt& tilt, const Chains& chains) {
    const Tensor change = (value_at(tilt, chains, beta) - chains.value).to(torch::kFloat64);
    return change.std() / std::abs(beta - chains.beta);
  }

  /// More than one transition where far too few or far too many are accepted.
  void settle(Tilt& tilt, Chains& chains) {
    const double wanted = options_.acceptance;
    for (int64_t tries = 0; tries < most_tries && !progress_.stop_requested(); ++tries) {
      const Tensor acceptance = move(tilt, chains);
      if (tries + 1 < fewest_tries) continue;
      const double found = acceptance.item<double>();
      if (found > wanted / 2 && found < (1 + wanted) / 2) break;
    }
  }

  /// A transition, then a longer step where more was accepted than wanted, a shorter one where
  /// less; without a look at the host. -> the acceptance, []
  Tensor move(Tilt& tilt, Chains& chains) {
    const Tensor acceptance = transition(tilt, chains, step_, options_.leapfrogs, generator_);
    const double up = 1 + options_.adaptation;
    step_ = step_ * at::where(acceptance > options_.acceptance, at::full_like(acceptance, up),
                              at::full_like(acceptance, 1 / up));
    return acceptance;
  }

  const AnnealOptions& options_;
  at::Generator& generator_;
  Progress& progress_;
  Tensor step_;
};

/// ∫ spread dβ from 0 to each knot. A hundredth of its mean is added everywhere, so that no part of
/// the way is left out because the pilot run saw nothing there.
std::vector<double> lengths(const Tensor& spread) {
  check(spread.dim() == 1 && spread.size(0) >= 2, "a spread must be [k] with k >= 2, got ",
        spread.sizes());
  const Tensor known =
      at::nan_to_num(spread.to(torch::kCPU, torch::kFloat64), 0, 0, 0).contiguous();
  const int64_t last = known.size(0) - 1;
  const auto* height = known.data_ptr<double>();
  std::vector<double> length = {0};
  for (int64_t i = 0; i < last; ++i)
    length.push_back(length.back() +
                     0.5 * (height[i] + height[i + 1]) * (knot(i + 1, last) - knot(i, last)));
  const double floor = length.back() > 0 ? 0.01 * length.back() : 1;
  for (int64_t i = 0; i <= last; ++i) length[i] += floor * knot(i, last);
  return length;
}

}  // namespace

Route::Route(const Tensor& step_sizes, const Tensor& spread)
    : step_sizes_(step_sizes.detach()), length_(lengths(spread)) {
  check(spread.sizes() == step_sizes.sizes(), "step sizes and spread must both be [k], got ",
        step_sizes.sizes(), " and ", spread.sizes());
}

Tensor Route::step(double beta) const {
  const int64_t last = step_sizes_.size(0) - 1;
  const double place = std::sqrt(std::clamp(beta, 0.0, 1.0)) * static_cast<double>(last);
  const int64_t left = std::min(static_cast<int64_t>(place), last - 1);
  return at::lerp(step_sizes_[left], step_sizes_[left + 1], place - static_cast<double>(left));
}

std::vector<double> Route::temperatures(int64_t n) const {
  const auto last = static_cast<int64_t>(length_.size()) - 1;
  std::vector<double> betas = {0};
  int64_t left = 0;
  for (int64_t i = 1; i < n; ++i) {
    const double goal = length_.back() * static_cast<double>(i) / static_cast<double>(n);
    while (left + 1 < last && length_[left + 1] < goal) ++left;
    const double share = (goal - length_[left]) / (length_[left + 1] - length_[left]);
    betas.push_back(std::lerp(knot(left, last), knot(left + 1, last), share));
  }
  betas.push_back(1);
  return betas;
}

Route pilot_run(Tilt& tilt, int64_t dimension, const AnnealOptions& options,
                const torch::TensorOptions& where, at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  Pilot pilot(options, where, generator, progress);
  const Tensor z = normal({options.chains, dimension}, where, generator);
  const Chains chains = start_chains(tilt, z, 0);
  pilot.burn_in(tilt, chains);
  return pilot.walk(tilt, chains, /*back=*/false);
}

Route pilot_run_back(Tilt& tilt, const Tensor& z, const AnnealOptions& options,
                     at::Generator& generator, Progress& progress) {
  const torch::NoGradGuard no_grad;
  validate(options);
  check(z.dim() == 2 && z.size(0) >= 2, "points must be [n, d] with n >= 2, got ", z.sizes());
  Pilot pilot(options, z.options(), generator, progress);
  const Chains chains = start_chains(tilt, z, 1);
  pilot.burn_in(tilt, chains);
  return pilot.walk(tilt, chains, /*back=*/true);
}

}  // namespace dre
