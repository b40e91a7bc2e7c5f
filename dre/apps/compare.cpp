#include "dre/apps/compare.h"

#include <algorithm>
#include <cmath>

#include "dre/apps/proven.h"
#include "dre/apps/reweighting.h"
#include "dre/base/error.h"
#include "dre/base/numbers.h"
#include "dre/data/place.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

constexpr int64_t histogram_bins = 40;
constexpr int64_t path_rows_a_side = 100;
constexpr double test_level = 0.05;  // of the verdict, whatever the level of the intervals

bool has_unequal_weights(const Samples& side) {
  return side.weight.defined() && (side.weight.max() > side.weight.min()).item<bool>();
}

Samples different(const Samples& side) {
  return make_samples(std::get<0>(at::unique_dim(side.x, 0)));
}

/// tail: the Pareto k of the weights.
Divergences compared_divergences(const TwoScores& f, const CrossFit& rated, const SomeScores& seen,
                                 const TwoSampleTest& test, double tail, double level) {
  Divergences found =
      measure_divergences(f, rated.numerator.fold, rated.denominator.fold, tail, level);
  allow_for_bias(found, f, test.rated, seen);
  if (test.p_value > 1 - level) include_zero(found);
  return found;
}

/// One comparison, step by step; every step fills in its part of the result.
class Comparing {
 public:
  Comparing(const Sides& sides, const CompareOptions& options, Progress& progress)
      : sides_(sides), options_(options), progress_(progress) {
    context_.seed = static_cast<uint64_t>(options.fit.seed);
  }

  CompareResult run() {
    out_.data = sides_.description;
    out_.apart = sides_.apart;
    rated_ = cross_fit(sides_.numerator, sides_.denominator, sides_.names, options_.cross_fit,
                       options_.fit, progress_);
    if (stopped(rated_.interrupted)) return std::move(out_);
    out_.test = two_sample_test(sides_.numerator, sides_.denominator, sides_.names, options_.fit,
                                options_.cross_fit.fit_rows, options_.permutations, progress_);
    if (stopped(out_.test.interrupted)) return std::move(out_);
    note_proofs();
    measure();
    check_support();
    expect_of_weights();
    if (stopped(!reweight())) return std::move(out_);
    auto generator = context_.generator("column effects");
    progress_.begin("columns", 0);
    out_.columns = column_effects(sides_.numerator, sides_.denominator, sides_.encoding, rated_,
                                  g1_, generator);
    progress_.end();
    describe_ratios();
    judge();
    return std::move(out_);
  }

 private:
  bool stopped(bool interrupted) { return out_.interrupted = interrupted; }

  /// Differences that a model may miss, where chance would hardly bring them about.
  void note_proofs() {
    const OwnLevels& own = sides_.own_levels;
    if (!own.columns.empty())
      note_proof(
          chance_of_own_levels * static_cast<double>(own.looks),
          text("that rare levels of ", listed(own.columns), " are so often on one side only"));
    const Samples &top = sides_.numerator, &bottom = sides_.denominator;
    if (top.weight.defined() || bottom.weight.defined()) return;
    const auto reaches_beyond = [&](const Samples& side, const Samples& other) {
      return beyond_range(side, other, sides_.encoding).any().item<bool>();
    };
    // Chance counts independent rows, which copies are not.
    const auto different_do = [&](const Samples& side, const Samples& other) {
      return reaches_beyond(side, other) && reaches_beyond(different(side), different(other));
    };
    if (different_do(top, bottom) || different_do(bottom, top))
      note_proof(chance_of_beyond, "that so many rows are beyond what the other side has");
  }

  void note_proof(double chance, const std::string& of) {
    if (out_.test.p_value < chance) return;
    out_.test.p_value = chance;
    out_.proof = of;
  }

  void measure() {
    const TwoScores f{rated_.numerator.log_ratio, sides_.numerator.weight,
                      rated_.denominator.log_ratio, sides_.denominator.weight};
    check_finite_ratios(f);
    const LogisticLine line = calibrate(f);
    g0_ = line(f.f0);
    g1_ = line(f.f1);
    const Tensor w0 = sides_.numerator.weights(), w1 = sides_.denominator.weights();
    out_.weights = checked(g1_, w1, weighted_mean(g0_, w0));
    out_.inverse_weights = checked(-g0_, w0, -weighted_mean(g1_, w1));
    auto generator = context_.generator("seen rows");
    const SomeScores seen = rate_seen(rated_, sides_.numerator, sides_.denominator, generator);
    out_.divergences =
        compared_divergences(f, rated_, seen, out_.test, out_.weights.pareto_k, options_.level);
    out_.separation.before = auc(f.f0, f.f1, w0, w1);
  }

  /// Rows of weight 0 have no say.
  static WeightCheck checked(const Tensor& log_weight, const Tensor& weight, double divergence) {
    const Tensor some = weight > 0;
    return check_weights(log_weight.masked_select(some), weight.masked_select(some), divergence);
  }

  void check_support() {
    const Samples &top = sides_.numerator, &bottom = sides_.denominator;
    const OwnLevels& own = sides_.own_levels;
    out_.support = with_own_levels({share_outside(g0_, top, bottom, sides_.encoding),
                                    share_outside(-g1_, bottom, top, sides_.encoding)},
                                   own);
    Divergences& found = out_.divergences;
    raise_to_proven(found, count_beyond_range(top, bottom, sides_.encoding),
                    count_beyond_range(bottom, top, sides_.encoding));
    if (has_own_levels(top, bottom, sides_.encoding) || own.nothing_shared)
      for (Divergence* one : {&found.kl_numerator_denominator, &found.chi_square}) infinite(*one);
    if (has_own_levels(bottom, top, sides_.encoding) || own.nothing_shared)
      infinite(found.kl_denominator_numerator);
    if (!own.columns.empty()) raise_to_own_levels(found, own);
  }

  void expect_of_weights() {
    out_.weights.least_mean = reached(out_.support.numerator_outside);
    out_.inverse_weights.least_mean = reached(out_.support.denominator_outside);
  }

  /// What the rows with a counterpart add up to is still a lower end.
  static void infinite(Divergence& found) { found.value = found.high = found.standard_error = NAN; }

  /// False: interrupted.
  bool reweight() {
    const std::optional<Measured> found =
        auc_after_reweighting(sides_.numerator, sides_.denominator, g1_, sides_.names, options_.fit,
                              options_.cross_fit.fit_rows, progress_);
    out_.separation.after = found.value_or(Measured{NAN, NAN});
    return found.has_value();
  }

  void describe_ratios() {
    const Tensor both = torch::cat({g0_, g1_});
    const double low = sample_quantile(both, 0.001), high = sample_quantile(both, 0.999);
    const double reach = std::max({std::abs(low), std::abs(high), 1e-3});
    const double width = 2 * reach / histogram_bins;
    const auto shares = [&](const Tensor& g, const Tensor& weight) {
      const Tensor bin =
          ((g + reach) / width).floor().clamp(0, histogram_bins - 1).to(torch::kInt64);
      const Tensor sum = torch::zeros({histogram_bins}, torch::kFloat64).index_add_(0, bin, weight);
      return numbers_of(sum / sum.sum());
    };
    for (int64_t i = 0; i <= histogram_bins; ++i)
      out_.histogram.edges.push_back(-reach + static_cast<double>(i) * width);
    out_.histogram.numerator = shares(g0_, sides_.numerator.weights());
    out_.histogram.denominator = shares(g1_, sides_.denominator.weights());
    out_.largest_weights = largest_weights(g1_, sides_.denominator.weights());
    describe_paths();
    if (!rated_.fits.front().members.empty())
      out_.curve = rated_.fits.front().members.front().training.curve;
  }

  /// Of the first fold's model, on some of its rows.
  void describe_paths() {
    const Estimator& estimator = rated_.fits.front().estimator;
    out_.paths = other_paths(estimator);
    if (out_.paths.empty()) return;
    const auto some = [](const Samples& side) { return side.x.slice(0, 0, path_rows_a_side); };
    const Tensor difference = path_disagreement(
        estimator, torch::cat({some(sides_.numerator), some(sides_.denominator)}), {});
    out_.path_disagreement = difference.square().mean().sqrt().item<double>();
  }

  void judge() {
    out_.warnings = sides_.warnings;
    const auto add = [&](const std::vector<Warning>& more) {
      out_.warnings.insert(out_.warnings.end(), more.begin(), more.end());
    };
    add(judge_ratios(rated_));
    add(judge_weights(out_.weights, "r", "denominator"));
    add(judge_weights(out_.inverse_weights, "1/r", "numerator"));
    add(judge_support(out_.support));
    if (std::isnan(out_.divergences.chi_square.value))
      add({{"infinite-chi2",
            "chi-square is infinite, or the weights too heavy-tailed to tell; it is not "
            "reported"}});
    else if (std::isinf(out_.divergences.chi_square.high))
      add({{"infinite-chi2",
            "the variance of chi-square may be infinite, for heavy-tailed weights or too few rows "
            "to tell: it has no upper end"}});
    add(judge_reweighting(out_.separation.after));
    if (has_unequal_weights(sides_.numerator) || has_unequal_weights(sides_.denominator))
      add({{"weighted-test",
            "rows count unequally, by weights or copies: the p-value is exact only where both "
            "sides "
            "are weighted alike"}});
    out_.verdict = verdict();
  }

  std::string verdict() const {
    const double tv = out_.divergences.total_variation.value;
    const double p = out_.test.p_value;
    const std::string chance = p < 0.001 ? "p < 0.001" : text("p = ", std::round(p * 1000) / 1000);
    const std::string apart = out_.apart.empty()
                                  ? ""
                                  : text("The tables differ: no value of ", listed(out_.apart),
                                         " is on both sides. In the other columns ");
    if (p > test_level)
      return text(apart.empty() ? "No difference found: the tables" : apart + "they",
                  " may well follow one distribution (", chance, ").");
    const std::string how_far = tv < 0.05   ? "slightly"
                                : tv < 0.25 ? "clearly"
                                : tv < 0.8  ? "strongly"
                                            : "almost completely";
    return text(apart.empty() ? "The tables" : apart + "they", " differ ", how_far, " (", chance,
                ")", where(), "; ", use(), ".");
  }

  std::string where() const {
    const Names& rare = sides_.own_levels.columns;
    Names places;
    if (!out_.columns.empty() && out_.columns.front().joint > 0 &&
        !contains(rare, out_.columns.front().name))
      places.push_back(out_.columns.front().name);
    if (!rare.empty()) places.push_back("rare levels of " + listed(rare));
    return places.empty() ? "" : ", most of all in " + join(places, " and ");
  }

  /// Whether weights can make the denominator like the numerator, and if not, why.
  std::string use() const {
    std::vector<std::string> faults;
    if (out_.support.numerator_outside > Support::noticed)
      faults.push_back("some of the numerator's rows have no counterpart");
    if (!sides_.own_levels.columns.empty())
      faults.push_back("rare levels differ, which the model takes as one");
    if (is_decided_by_few(out_.weights)) faults.push_back("a few rows would decide");
    if (still_different(out_.separation.after))
      faults.push_back("a fresh classifier still tells the reweighted rows apart");
    if (!faults.empty())
      return text("the denominator cannot be reweighted to the numerator reliably: ",
                  join(faults, " and "));
    return std::isnan(out_.separation.after.value)
               ? "there are too few rows to tell whether the denominator can be reweighted to it"
               : "the denominator can be reweighted to the numerator";
  }

  const Sides& sides_;
  CompareOptions options_;
  Progress& progress_;
  Context context_;
  CrossFit rated_;
  Tensor g0_, g1_;  // recalibrated out-of-fold log-ratios
  CompareResult out_;
};

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json divergence_json(const Divergence& found) {
  return {{"value", number(found.value)},
          {"low", number(found.low)},
          {"high", number(found.high)},
          {"standard_error", number(found.standard_error)}};
}

}  // namespace

void CompareOptions::visit(OptionVisitor& v) {
  cross_fit.visit(v);
  v("level", level, {0, 1, true, true},
    "of the confidence intervals; the verdict asks for p <= 0.05 whatever it is");
  v("permutations", permutations, at_least(99), "of the two-sample test");
  fit.visit(v);
}

CompareResult compare(const Sides& sides, const CompareOptions& options, Progress& progress) {
  validate(options);
  check(options.cross_fit.folds >= 3, "a comparison needs 3 folds or more, got ",
        options.cross_fit.folds,
        ": its intervals set models of most rows beside one of half of them");
  return Comparing(sides, options, progress).run();
}

std::string p_value_source(const CompareResult& result) {
  return result.proof.empty()
             ? text("permutation of ", result.test.rows, " rows that the model did not see")
             : text("bound on the chance ", result.proof);
}

nlohmann::json to_json(const CompareResult& result) {
  check(!result.interrupted, "the comparison was stopped before its end: it has no result");
  const Divergences& d = result.divergences;
  return {{"schema", "dre-compare"},
          {"schema_version", 1},
          {"direction", "log(numerator / denominator)"},
          {"verdict", result.verdict},
          {"data", result.data},
          {"level", d.level},
          {"kl", divergence_json(d.kl_numerator_denominator)},
          {"kl_reverse", divergence_json(d.kl_denominator_numerator)},
          {"js", divergence_json(d.jensen_shannon)},
          {"tv", divergence_json(d.total_variation)},
          {"chi2", divergence_json(d.chi_square)},
          {"test",
           {{"p_value", result.test.p_value},
            {"statistic", result.test.statistic},
            {"rows", result.test.rows},
            {"permutations", result.test.permutations}}},
          {"auc",
           {{"before", result.separation.before},
            {"after", number(result.separation.after.value)},
            {"after_standard_error", number(result.separation.after.standard_error)}}},
          {"weights", to_json(result.weights)},
          {"inverse_weights", to_json(result.inverse_weights)},
          {"outside",
           {{"numerator", result.support.numerator_outside},
            {"denominator", result.support.denominator_outside}}},
          {"calibration", {{"intercept", d.calibration.intercept}, {"slope", d.calibration.slope}}},
          {"columns", to_json(result.columns)},
          {"apart", result.apart},
          {"path_disagreement",
           result.paths.empty() ? nlohmann::json(nullptr) : number(result.path_disagreement)},
          {"warnings", warnings_json(result.warnings)}};
}

}  // namespace dre
