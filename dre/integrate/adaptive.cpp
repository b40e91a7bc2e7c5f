#include <limits>
#include <vector>

#include "dre/base/error.h"
#include "dre/integrate/quadrature.h"
#include "dre/integrate/sampler.h"
#include "dre/integrate/tail.h"

namespace dre {
namespace {

/// Pieces of the rows' intervals: [m] each.
struct Panels {
  Tensor row;       ///< int64
  Tensor centre;    ///< float64
  Tensor half;      ///< half the length, negative when the integral runs downwards
  Tensor value;     ///< integral over the panel
  Tensor error;     ///< its estimated error
  Tensor absolute;  ///< ∫|f| over the panel

  int64_t size() const { return row.size(0); }
};

Panels fresh_panels(const Tensor& row, const Tensor& centre, const Tensor& half) {
  const Tensor none = torch::full_like(centre, std::numeric_limits<double>::infinity());
  return {row, centre, half, none, none.clone(), none.clone()};
}

Panels select(const Panels& panels, const Tensor& index) {
  const auto pick = [&](const Tensor& field) { return field.index_select(0, index); };
  return {pick(panels.row),   pick(panels.centre), pick(panels.half),
          pick(panels.value), pick(panels.error),  pick(panels.absolute)};
}

Panels join(const Panels& a, const Panels& b) {
  return {torch::cat({a.row, b.row}),     torch::cat({a.centre, b.centre}),
          torch::cat({a.half, b.half}),   torch::cat({a.value, b.value}),
          torch::cat({a.error, b.error}), torch::cat({a.absolute, b.absolute})};
}

Panels bisect(const Panels& panels) {
  const Tensor half = panels.half / 2;
  return fresh_panels(torch::cat({panels.row, panels.row}),
                      torch::cat({panels.centre - half, panels.centre + half}),
                      torch::cat({half, half}));
}

Tensor where_true(const Tensor& mask) { return mask.nonzero().squeeze(1); }

/// Panels on their way up a sequence of rules.
struct Climbers {
  Panels panels;
  Tensor index;    ///< [m] places in the panels that are being filled in
  Tensor target;   ///< [m] error at which a panel may stop
  Tensor samples;  ///< [m, nodes so far]
  Tensor change;   ///< [m] between the last two rules
  Tensor before;   ///< [m] between the two rules before these
};

Climbers select(const Climbers& all, const Tensor& index) {
  return {select(all.panels, index),         all.index.index_select(0, index),
          all.target.index_select(0, index), all.samples.index_select(0, index),
          all.change.index_select(0, index), all.before.index_select(0, index)};
}

void store(const Climbers& from, Panels& to) {
  to.value.index_copy_(0, from.index, from.panels.value);
  to.error.index_copy_(0, from.index, from.panels.error);
  to.absolute.index_copy_(0, from.index, from.panels.absolute);
}

class Adaptive final {
 public:
  Adaptive(const RowIntegrand& integrand, int64_t rows, const QuadratureOptions& options,
           const torch::TensorOptions& tensors, const NestedRule& rule)
      : options_(options),
        rule_(rule),
        sample_(integrand, options, tensors),
        rows_(rows),
        used_(torch::zeros({rows}, sample_.counts())) {
    std::vector<double> nodes;
    for (const RuleLevel& level : rule.levels) {
      nodes.insert(nodes.end(), level.new_nodes.begin(), level.new_nodes.end());
      tails_.emplace_back(nodes, level.weights, level.degree, sample_.sums());
    }
  }

  Integral operator()(double from, double to) {
    Panels panels = whole(from, to);
    climb(panels, torch::full({rows_}, options_.atol, sample_.sums()), options_.rtol,
          rule_.levels.size());
    while (true) {
      const Totals totals = sum(panels);
      const Tensor split = to_split(panels, totals);
      const Tensor index = where_true(split);
      if (index.numel() == 0) return conclude(totals.sums, options_, sample_.noise());
      Panels halves = bisect(select(panels, index));
      climb(halves, share(totals, halves.row), 0, rule_.panel_levels);
      panels = join(select(panels, where_true(split.logical_not())), halves);
    }
  }

 private:
  struct Totals {
    RowSums sums;
    Tensor panels;     ///< [n] how many
    Tensor tolerance;  ///< [n]
  };

  Panels whole(double from, double to) const {
    return fresh_panels(torch::arange(rows_, sample_.counts()),
                        torch::full({rows_}, from + (to - from) / 2, sample_.sums()),
                        torch::full({rows_}, (to - from) / 2, sample_.sums()));
  }

  /// Fills in the panels' integrals: each climbs the sequence of rules until its error is at most
  /// goal = max(target, rtol |value|), or its promise is, and the goal is told as its error, or its
  /// integrand is not finite. target: [m]
  void climb(Panels& panels, const Tensor& target, double rtol, size_t levels) {
    const Tensor all = torch::arange(panels.size(), sample_.counts());
    Climbers now{select(panels, all),
                 all,
                 target,
                 torch::empty({panels.size(), 0}, sample_.sums()),
                 torch::empty({panels.size()}, sample_.sums()),
                 torch::empty({panels.size()}, sample_.sums())};
    for (size_t i = 0; i < levels && now.panels.size() > 0; ++i) {
      if (static_cast<int64_t>(rule_.levels[i].weights.size()) > options_.max_evaluations) return;
      const Tensor promise = apply(i, now);
      Panels& p = now.panels;
      const Tensor goal =
          torch::max(torch::max(now.target, rtol * p.value.abs()), sample_.noise() * p.absolute);
      p.error = torch::where(promise <= goal, torch::min(p.error, goal), p.error);
      store(now, panels);
      now = select(now, where_true((p.error > goal).logical_and(p.value.isfinite())));
    }
  }

  /// The rule of level i on every climber. The difference to the rule before stands beside the
  /// tail: whole at the first comparison, and an eighth later, which is what halving the spacing
  /// gains on an integrand with a continuous derivative. From the fourth rule on, three differences
  /// show how fast this integrand converges: eight times the next one is enough, but no less than
  /// what a smooth integrand would leave, or than three times this one where that is smaller. The
  /// next one has the same quotient to this one, or its square where the tail is geometric: twice
  /// the nodes then square the error. The quotient is the last one, or the mean of the last two
  /// where the difference between was small by accident. That this one is small by accident is
  /// seen by the tail: no difference is believed that is less than half of it.
  ///
  /// Gives the promise: an error to be expected if the differences go on falling as they did, twice
  /// the next one by the same quotient. The estimate is cautious, a hundred times the true error on
  /// fitted networks; whether a row is cut in two therefore goes by the promise. [m]; infinite
  /// before the fourth rule, which panels of a row that was cut do not reach.
  Tensor apply(size_t i, Climbers& now) {
    now.samples = torch::cat({now.samples, sample_nodes(now.panels, rule_.levels[i].new_nodes)}, 1);
    const TailRule::Sums sums = tails_[i](now.samples, now.panels.half);
    const Tensor change = (sums.value - now.panels.value).abs();
    Tensor promise = torch::full_like(change, std::numeric_limits<double>::infinity());
    if (i > 0) now.panels.error = torch::max(sums.tail, change / (i > 1 ? 8 : 1));
    if (i > 2) {
      const Tensor believed = torch::max(change, sums.tail / 2);
      const Tensor last = (believed / now.change).nan_to_num(0);
      const Tensor mean = (believed / now.before).nan_to_num(0).sqrt();
      const Tensor quotient = torch::min(last, mean).clamp_max(1);
      const Tensor geometric = sums.tail <= sums.smooth;
      const Tensor next = 8 * believed * torch::where(geometric, quotient.square(), quotient);
      const Tensor least = torch::min(sums.smooth, 3 * believed);
      now.panels.error = torch::min(now.panels.error, torch::max(next, least));
      promise = 2 * believed * quotient;
    }
    now.before = now.change;
    now.change = change;
    now.panels.value = sums.value;
    now.panels.absolute = sums.absolute;
    return promise;
  }

  Tensor sample_nodes(const Panels& panels, const std::vector<double>& nodes) {
    const Tensor places = torch::tensor(nodes, sample_.sums());
    const Tensor t = panels.centre.unsqueeze(1) + panels.half.unsqueeze(1) * places;
    used_.index_add_(0, panels.row, torch::full_like(panels.row, t.size(1)));
    return sample_(panels.row, t);
  }

  Tensor add_up(const Tensor& row, const Tensor& values) const {
    return torch::zeros({rows_}, values.options()).index_add_(0, row, values);
  }

  Totals sum(const Panels& panels) const {
    const RowSums sums = {add_up(panels.row, panels.value), add_up(panels.row, panels.error),
                          add_up(panels.row, panels.absolute), used_};
    return {sums, add_up(panels.row, torch::ones_like(panels.error)),
            tolerance(sums, options_, sample_.noise())};
  }

  static Tensor share(const Totals& totals, const Tensor& row) {
    return (totals.tolerance / totals.panels).index_select(0, row);
  }

  /// If no panel of a row exceeds an equal share of the tolerance, the row is done; so a row that
  /// is not done always has something to split. [m] bool
  Tensor to_split(const Panels& panels, const Totals& totals) const {
    const Tensor open =
        (totals.sums.error > totals.tolerance).logical_and(totals.sums.value.isfinite());
    const Tensor coarse =
        (panels.error > share(totals, panels.row)).logical_and(open.index_select(0, panels.row));
    const auto cost = 2 * static_cast<int64_t>(rule_.levels[rule_.panel_levels - 1].weights.size());
    const Tensor planned = used_ + cost * add_up(panels.row, coarse.to(torch::kInt64));
    const Tensor affordable = planned <= options_.max_evaluations;
    return coarse.logical_and(affordable.index_select(0, panels.row));
  }

  const QuadratureOptions options_;
  const NestedRule rule_;
  RowSampler sample_;
  std::vector<TailRule> tails_;
  int64_t rows_;
  Tensor used_;
};

}  // namespace

Integral gauss_kronrod(const RowIntegrand& integrand, int64_t rows, double from, double to,
                       const QuadratureOptions& options, const torch::TensorOptions& tensors,
                       const NestedRule& rule) {
  const torch::NoGradGuard no_grad;
  validate(options);
  check_interval(rows, from, to);
  check(rule.levels.size() >= 2 && rule.panel_levels >= 2, "an adaptive rule needs two levels");
  check(options.max_evaluations >= static_cast<int64_t>(rule.levels[1].weights.size()),
        "max_evaluations must be at least ", rule.levels[1].weights.size(),
        " for this rule's first error estimate, got ", options.max_evaluations);
  return Adaptive(integrand, rows, options, tensors, rule)(from, to);
}

}  // namespace dre
