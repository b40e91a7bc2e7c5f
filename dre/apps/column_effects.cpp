#include "dre/apps/column_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dre/base/numbers.h"
#include "dre/data/place.h"
#include "dre/numeric/statistics.h"
#include "dre/ratio/correction.h"

namespace dre {
namespace {

using Kind = TypedColumn::Kind;
using Role = EncodedColumn::Role;

constexpr int64_t bins = 24;

/// Rows of a side that stand for all, with weights that sum to 1.
struct Part {
  Samples rows;
  Tensor fold;        // [n]
  Tensor share;       // [n]
  Tensor reweighted;  // [n], of denominator rows: share times r
};

Part make_part(const Samples& side, const Tensor& fold, const Tensor& log_weight, int64_t most,
               at::Generator& generator) {
  const Tensor counts = (side.weights() > 0).nonzero().squeeze(1);
  const Tensor rows = counts.index_select(0, sampled_rows(counts.size(0), most, generator));
  Part part{side.take(rows), fold.index_select(0, rows), {}, {}};
  const Tensor weight = part.rows.weights();
  part.share = weight / weight.sum();
  if (log_weight.defined()) {
    const Tensor own = log_weight.index_select(0, rows);
    const Tensor scaled = scaled_weights(own, part.share);
    part.reweighted = scaled / scaled.sum();
  }
  return part;
}

/// The largest gap between two weighted distribution functions.
double largest_gap(const Tensor& x0, const Tensor& share0, const Tensor& x1, const Tensor& share1) {
  const auto [sorted, order] = torch::cat({x0, x1}).sort();
  const Tensor jump = torch::cat({share0, -share1}).index_select(0, order).cumsum(0);
  // Between equal values the functions are not yet compared.
  const Tensor last = torch::cat({sorted.diff() > 0, torch::ones({1}, torch::kBool)});
  return as_share(jump.masked_select(last).abs().max().item<double>());
}

/// Of the means with shares share0 and `weighted`, in standard deviations of both sides; NaN where
/// shares are all zero.
double standardised_shift(const Tensor& x0, const Tensor& share0, const Tensor& x1,
                          const Tensor& share1, const Tensor& weighted) {
  for (const Tensor* share : {&share0, &share1, &weighted})
    if (share->sum().item<double>() == 0) return NAN;
  const double deviation =
      std::sqrt(0.5 * (weighted_variance(x0, share0) + weighted_variance(x1, share1)));
  if (deviation == 0) return 0;
  return ((share0 * x0).sum() - (weighted * x1).sum()).item<double>() / deviation;
}

/// Everything about one raw column.
class ColumnView {
 public:
  ColumnView(const Encoding& encoding, size_t raw) : raw_(encoding.raw()[raw]) {
    for (size_t j = 0; j < encoding.columns().size(); ++j)
      if (encoding.columns()[j].source == raw) {
        places_.push_back(static_cast<int64_t>(j));
        roles_.push_back(encoding.columns()[j]);
      }
  }

  const std::vector<int64_t>& places() const { return places_; }

  ColumnEffect effect(const Part& top, const Part& bottom) const {
    ColumnEffect out;
    out.name = raw_.name;
    const bool number = raw_.kind != Kind::category && place_of(Role::value) >= 0;
    out.kind = !number ? "category" : raw_.kind == Kind::date ? "date" : "number";
    if (number)
      describe_number(top, bottom, out);
    else
      describe_levels(top, bottom, out);
    return out;
  }

 private:
  int64_t place_of(Role role) const {
    for (size_t i = 0; i < roles_.size(); ++i)
      if (roles_[i].role == role) return places_[i];
    return -1;
  }

  /// Where the value is missing: [n] bool
  Tensor missing(const Part& part) const {
    const int64_t place = place_of(Role::missing);
    return place < 0 ? torch::zeros({part.rows.rows()}, torch::kBool)
                     : part.rows.x.select(1, place) > 0;
  }

  void describe_number(const Part& top, const Part& bottom, ColumnEffect& out) const {
    const Tensor x0 = top.rows.x.select(1, place_of(Role::value)).contiguous();
    const Tensor x1 = bottom.rows.x.select(1, place_of(Role::value)).contiguous();
    const Tensor none0 = missing(top), none1 = missing(bottom);
    // For the distance a missing value is one of its own, below all others.
    const auto marked = [](const Tensor& x, const Tensor& none) {
      return x.masked_fill(none, -std::numeric_limits<double>::infinity());
    };
    const Tensor y0 = marked(x0, none0), y1 = marked(x1, none1);
    out.distance = largest_gap(y0, top.share, y1, bottom.share);
    out.distance_reweighted = largest_gap(y0, top.share, y1, bottom.reweighted);
    // Everything else is about the values that are there; all zero where there are none.
    const auto there = [](const Tensor& share, const Tensor& none) {
      const Tensor some = share.masked_fill(none, 0);
      const Tensor sum = some.sum();
      return sum.item<double>() > 0 ? some / sum : some;
    };
    const Tensor share0 = there(top.share, none0), share1 = there(bottom.share, none1);
    const Tensor again = there(bottom.reweighted, none1);
    out.shift = standardised_shift(x0, share0, x1, share1, share1);
    out.shift_reweighted = standardised_shift(x0, share0, x1, share1, again);
    // Bins reach over the middle of both sides; the outer ones take the rest.
    const Tensor both =
        torch::cat({x0.masked_select(none0.logical_not()), x1.masked_select(none1.logical_not())});
    const bool some = both.size(0) > 0;
    const double low = some ? sample_quantile(both, 0.002) : 0;
    const double high = some ? sample_quantile(both, 0.998) : 0;
    const double width = high > low ? (high - low) / bins : 1;
    const auto histogram = [&](const Tensor& x, const Tensor& share) {
      const Tensor bin = ((x - low) / width).floor().clamp(0, bins - 1).to(torch::kInt64);
      return numbers_of(torch::zeros({bins}, torch::kFloat64).index_add_(0, bin, share));
    };
    for (int64_t i = 0; i <= bins; ++i)
      out.marginal.edges.push_back(low + static_cast<double>(i) * width);
    out.marginal.numerator = histogram(x0, top.share.masked_fill(none0, 0));
    out.marginal.denominator = histogram(x1, bottom.share.masked_fill(none1, 0));
    out.marginal.reweighted = histogram(x1, bottom.reweighted.masked_fill(none1, 0));
    out.missing_numerator = as_share(top.share.masked_select(none0).sum().item<double>());
    out.missing_denominator = as_share(bottom.share.masked_select(none1).sum().item<double>());
  }

  void describe_levels(const Part& top, const Part& bottom, ColumnEffect& out) const {
    out.shift = out.shift_reweighted = NAN;
    const auto shares = [&](const Part& part, const Tensor& share) {
      std::vector<double> all;
      double rest = 1;
      for (const int64_t place : places_) {
        all.push_back(as_share((part.rows.x.select(1, place) * share).sum().item<double>()));
        rest -= all.back();
      }
      all.push_back(as_share(rest));  // the level without a column
      return all;
    };
    for (const auto& column : roles_) out.marginal.levels.push_back(column.name);
    out.marginal.levels.push_back(label_without_column());
    out.marginal.numerator = shares(top, top.share);
    out.marginal.denominator = shares(bottom, bottom.share);
    out.marginal.reweighted = shares(bottom, bottom.reweighted);
    const auto variation = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]) / 2;
      return as_share(sum);
    };
    out.distance = variation(out.marginal.numerator, out.marginal.denominator);
    out.distance_reweighted = variation(out.marginal.numerator, out.marginal.reweighted);
  }

  /// Of the most frequent level, which may be that of missing cells or of the pooled levels.
  std::string label_without_column() const {
    for (const auto& level : raw_.levels) {
      const bool has_column = std::any_of(roles_.begin(), roles_.end(), [&](const auto& column) {
        return column.role == Role::level && column.level == level;
      });
      if (!has_column) return raw_.name + " = " + printable(level);
    }
    if (raw_.has_missing && place_of(Role::missing) < 0) return raw_.name + " is missing";
    const bool pooled = raw_.pools && place_of(Role::other) < 0;
    return raw_.name + (pooled ? " = (other)" : " = (the rest)");
  }

  const RawColumn& raw_;
  std::vector<int64_t> places_;
  std::vector<EncodedColumn> roles_;
};

/// Logistic loss of the fold models on rows they have not seen.
double loss_of(const CrossFit& rated, const Part& top, const Part& bottom, const Tensor& x0,
               const Tensor& x1) {
  const auto rate = [&](const Part& part, const Tensor& x) -> RatedRows {
    Tensor log_ratio = torch::empty({x.size(0)}, torch::kFloat64);
    for (size_t k = 0; k < rated.fits.size(); ++k) {
      const Tensor rows = (part.fold == static_cast<int64_t>(k)).nonzero().squeeze(1);
      if (rows.size(0) == 0) continue;
      log_ratio.index_copy_(0, rows, rated.log_ratio(k, x.index_select(0, rows)));
    }
    return {log_ratio, part.share};
  };
  return logistic_loss(rate(top, x0), rate(bottom, x1));
}

}  // namespace

std::vector<ColumnEffect> column_effects(const Samples& numerator, const Samples& denominator,
                                         const Encoding& encoding, const CrossFit& rated,
                                         const Tensor& log_weight, at::Generator& generator,
                                         const EffectOptions& options) {
  const at::NoGradGuard no_grad;
  const Part top = make_part(numerator, rated.numerator.fold, {}, options.rows, generator);
  const Part bottom =
      make_part(denominator, rated.denominator.fold, log_weight, options.rows, generator);
  const double base = loss_of(rated, top, bottom, top.rows.x, bottom.rows.x);
  const int64_t n0 = top.rows.rows(), n = n0 + bottom.rows.rows();
  const Tensor all = torch::cat({top.rows.x, bottom.rows.x});
  std::vector<ColumnEffect> effects;
  for (size_t raw = 0; raw < encoding.raw().size(); ++raw) {
    const ColumnView view(encoding, raw);
    effects.push_back(view.effect(top, bottom));
    const Tensor places = torch::tensor(view.places());
    const Tensor order = at::randperm(n, generator, torch::kInt64);
    Tensor shuffled = all.clone();
    shuffled.index_copy_(1, places, all.index_select(1, places).index_select(0, order));
    const double without =
        loss_of(rated, top, bottom, shuffled.slice(0, 0, n0), shuffled.slice(0, n0, n));
    effects.back().joint = without - base;
  }
  std::stable_sort(effects.begin(), effects.end(),
                   [](const auto& a, const auto& b) { return a.joint > b.joint; });
  // A model that knows nothing loses log 2; one that is led astray tells no more than that.
  for (auto& effect : effects)
    effect.joint = std::min(effect.joint, std::max(std::numbers::ln2 - base, 0.0));
  return effects;
}

nlohmann::json to_json(const std::vector<ColumnEffect>& effects) {
  const auto known = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  nlohmann::json out = nlohmann::json::array();
  for (const auto& effect : effects)
    out.push_back({{"name", effect.name},
                   {"kind", effect.kind},
                   {"distance", effect.distance},
                   {"distance_reweighted", effect.distance_reweighted},
                   {"shift", known(effect.shift)},
                   {"shift_reweighted", known(effect.shift_reweighted)},
                   {"missing_numerator", effect.missing_numerator},
                   {"missing_denominator", effect.missing_denominator},
                   {"joint", effect.joint}});
  return out;
}

}  // namespace dre
