#include "dre/apps/proven.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace dre {
namespace {

/// Divergences of an event with the probabilities p and q on the two sides.
double event_kl(double p, double q) {
  const auto part = [](double x, double y) { return x > 0 ? x * std::log(x / y) : 0; };
  return part(p, q) + part(1 - p, 1 - q);
}

double event_reverse_kl(double p, double q) { return event_kl(q, p); }

double event_jensen_shannon(double p, double q) {
  return (event_kl(p, (p + q) / 2) + event_kl(q, (p + q) / 2)) / 2;
}

double event_total_variation(double p, double q) { return std::abs(p - q); }

double event_chi_square(double p, double q) { return (p - q) * (p - q) / (q * (1 - q)); }

struct EventMeasure {
  Divergence Divergences::*result;
  double (*between)(double p, double q);
};

constexpr EventMeasure event_measures[] = {
    {&Divergences::kl_numerator_denominator, event_kl},
    {&Divergences::kl_denominator_numerator, event_reverse_kl},
    {&Divergences::jensen_shannon, event_jensen_shannon},
    {&Divergences::total_variation, event_total_variation},
    {&Divergences::chi_square, event_chi_square}};

/// Probabilities of an event on the side that has it and on the other.
struct EventShares {
  double own, other;
};

/// At most, the other side never has the event. Where that makes a divergence infinite, which the
/// event does not prove, it has it about as often as usual.
struct SharesInterval {
  EventShares low, value, high, usual_high;
};

/// Those of rows beyond a range. The own one by Wilson's interval; what the other law has beyond
/// the largest of n rows is Beta(1, n), about a gamma variable by n, at every end.
SharesInterval shares_of(const BeyondRange& beyond, double level) {
  const double n = beyond.rows, p = beyond.share;
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + level / 2);
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  const double low = middle - half, high = std::min(1.0, middle + half);
  const double value = (p * n + 0.5) / (n + 1);  // below 1
  const auto ends = static_cast<double>(beyond.ends);
  const double usual = ends / beyond.other_rows;
  const double most = usual * std::pow(1 - 1 / (9 * ends) + z / (3 * std::sqrt(ends)), 3);
  return {{low, most}, {value, usual}, {high, 0}, {high, usual}};
}

/// Where the difference may be chance, nothing is proven.
double proven(const EventMeasure& measure, const EventShares& shares, bool of_numerator) {
  if (!(shares.own > shares.other)) return 0;
  return of_numerator ? measure.between(shares.own, shares.other)
                      : measure.between(shares.other, shares.own);
}

void raise_by(Divergences& divergences, const BeyondRange& beyond, bool of_numerator) {
  if (beyond.ends == 0) return;
  const SharesInterval shares = shares_of(beyond, divergences.level);
  for (const EventMeasure& measure : event_measures) {
    Divergence& found = divergences.*measure.result;
    const auto raised = [&](double& end, const EventShares& at) {
      if (!std::isnan(end)) end = std::max(end, proven(measure, at, of_numerator));
    };
    raised(found.low, shares.low);
    raised(found.value, shares.value);
    const bool bounded = std::isfinite(proven(measure, shares.high, of_numerator));
    raised(found.high, bounded ? shares.high : shares.usual_high);
  }
}

}  // namespace

void raise_to_proven(Divergences& divergences, const BeyondRange& numerator,
                     const BeyondRange& denominator) {
  raise_by(divergences, numerator, true);
  raise_by(divergences, denominator, false);
}

void raise_to_own_levels(Divergences& divergences, const OwnLevels& own) {
  // Three events: the own levels of each side, and all others.
  const double a = own.numerator, b = own.denominator, p = 1 - a, q = 1 - b;
  const double ln2 = std::numbers::ln2;
  const auto shared = [&](double x) { return x > 0 ? x * std::log(2 * x / (p + q)) : 0; };
  const auto raise = [](Divergence& found, double least, double most) {
    found.value = std::max(found.value, least);
    found.low = std::max(found.low, least);
    found.high = most;
  };
  raise(divergences.jensen_shannon, (a * ln2 + shared(p) + b * ln2 + shared(q)) / 2, ln2);
  const double variation = std::max(a, b);
  raise(divergences.total_variation, variation, 1);
  // KL >= 2 TV^2 (Pinsker), chi-square >= 4 TV^2.
  const auto raise_low = [](Divergence& found, double least) {
    found.low = std::max(found.low, least);
    if (std::isnan(found.value)) return;
    found.value = std::max(found.value, least);
    found.high = std::numeric_limits<double>::infinity();
  };
  raise_low(divergences.kl_numerator_denominator, 2 * variation * variation);
  raise_low(divergences.kl_denominator_numerator, 2 * variation * variation);
  raise_low(divergences.chi_square, 4 * variation * variation);
}

}  // namespace dre
