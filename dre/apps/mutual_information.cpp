#include "dre/apps/mutual_information.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <vector>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

/// Dependence is learned slowly: where halving the rows costs g, the rest costs g / (2^a - 1), 5 g
/// for an error that falls with the fourth root of the rows.
constexpr double slow_learning = 5;

/// A model of x and y side by side, of the pairs against shuffles of them.
class JointCritic final : public PairCritic {
 public:
  explicit JointCritic(Estimator estimator) : estimator_(std::move(estimator)) {}
  Opinions opinions(const Tensor& x, const Tensor& y) const override {
    return dre::opinions(estimator_, torch::cat({x, y}, 1));
  }

 private:
  Estimator estimator_;
};

/// One out-of-fold fit after the other, with shuffles of their own.
class Measuring {
 public:
  Measuring(const Groups& groups, const MutualInformationOptions& options, Progress& progress)
      : groups_(groups), options_(options), progress_(progress) {
    context_.seed = static_cast<uint64_t>(options.fit.seed);
    names_ = groups.x_names;
    for (const auto& name : groups.y_names) names_.push_back(name + " (y)");
    auto generator = context_.generator("folds");
    fold_ = assign_folds(groups.x.size(0), options.cross_fit.folds, generator);
    partner_ = torch::arange(fold_.size(0));
    for (int64_t fold = 0; fold < options.cross_fit.folds; ++fold) {
      const Tensor mine = rows_of(fold);
      // Around one circle, so that nobody is paired with itself.
      const Tensor order = at::randperm(mine.size(0), generator, torch::kInt64);
      const Tensor circle = mine.index_select(0, order);
      partner_.index_copy_(0, circle, circle.roll(1));
    }
    kept_.resize(static_cast<size_t>(options.cross_fit.folds));
    joint_ = Opinions::empty(groups.x.size(0));
    shuffled_ = Opinions::empty(groups.x.size(0));
  }

  MutualInformation run() {
    const int64_t folds = options_.cross_fit.folds;
    std::atomic<bool> interrupted = false;
    progress_.begin("cross-fitting", folds + 1);
    std::atomic<int64_t> done = 0;
    side_by_side(folds + 1, [&](int64_t job) {
      if (interrupted) return;
      if (!(job < folds ? rate(job) : rate_by_half())) interrupted = true;
      const std::lock_guard lock(mutex_);
      progress_.advance(++done, "");
    });
    progress_.end();
    MutualInformation out;
    out.interrupted = interrupted;
    if (out.interrupted) {
      out.information = {NAN, NAN, NAN, NAN, NAN};
      return out;
    }
    measure(out);
    return out;
  }

 private:
  /// Forwards requests to stop; the bar belongs to the folds.
  class Quiet final : public Progress {
   public:
    Quiet(Progress& all, std::mutex& mutex) : all_(all), mutex_(mutex) {}
    bool stop_requested() override {
      const std::lock_guard lock(mutex_);
      return all_.stop_requested();
    }

   private:
    Progress& all_;
    std::mutex& mutex_;
  };

  /// A model of these rows, or of `most` of them.
  PairFit fit_to(Tensor which, int64_t most, int64_t stream) {
    auto generator = context_.generator(text("shuffles of fold ", stream));
    if (which.size(0) > most)
      which = which.index_select(
          0, at::randperm(which.size(0), generator, torch::kInt64).slice(0, 0, most));
    FitOptions own = options_.fit;
    own.seed = later_seed(own.seed, stream);
    Quiet quiet(progress_, mutex_);
    const Tensor x = groups_.x.index_select(0, which), y = groups_.y.index_select(0, which);
    return options_.fit.method == "auto"
               ? fit_pairs(x, y, groups_.x_names, groups_.y_names, options_.pairs, own, quiet)
               : fit_joint(x, y, own, generator, quiet);
  }

  /// "c=rank" for a column of y as it is called beside those of x.
  std::string in_both_groups(const std::string& entry) const {
    const size_t at = entry.rfind('=');
    return contains(groups_.y_names, entry.substr(0, at))
               ? entry.substr(0, at) + " (y)" + entry.substr(at)
               : entry;
  }

  PairFit fit_joint(const Tensor& x, const Tensor& y, const FitOptions& own,
                    at::Generator& generator, Progress& quiet) const {
    std::vector<Tensor> apart;
    for (int64_t i = 0; i < options_.shuffles; ++i) {
      const Tensor order = at::randperm(y.size(0), generator, torch::kInt64);
      apart.push_back(torch::cat({x, y.index_select(0, order)}, 1));
    }
    FitOptions named = own;
    for (auto& entry : named.columns.single) entry = in_both_groups(entry);
    const FitResult result = fit_any(make_samples(torch::cat({x, y}, 1)),
                                     make_samples(torch::cat(apart)), names_, named, quiet);
    return {std::make_shared<JointCritic>(result.estimator), kept_weight(result),
            result.interrupted};
  }

  Tensor rows_of(int64_t fold) const { return (fold_ == fold).nonzero().squeeze(1); }

  /// Of rows with the y of others, or with their own.
  Opinions opinions(const PairFit& fit, const Tensor& which, const Tensor& y_which) const {
    return fit.critic->opinions(groups_.x.index_select(0, which),
                                groups_.y.index_select(0, y_which));
  }

  /// Rates the rows of a fold by a model of the others. False: interrupted.
  bool rate(int64_t fold) {
    const PairFit result =
        fit_to((fold_ != fold).nonzero().squeeze(1), options_.cross_fit.fit_rows, fold);
    if (result.interrupted) return false;
    const Tensor mine = rows_of(fold);
    const Opinions joint = opinions(result, mine, mine);
    const Opinions apart = opinions(result, mine, partner_.index_select(0, mine));
    const std::lock_guard lock(mutex_);
    joint_.put(mine, joint);
    shuffled_.put(mine, apart);
    kept_[static_cast<size_t>(fold)] = result.kept;
    return true;
  }

  /// Rates the rows of the later folds by a model of the first, which has half as many rows as
  /// the others had.
  bool rate_by_half() {
    const int64_t folds = options_.cross_fit.folds;
    const PairFit result = fit_to((fold_ < (folds - 1) / 2).nonzero().squeeze(1),
                                  options_.cross_fit.fit_rows / 2, folds);
    if (result.interrupted) return false;
    const Tensor half_rows = (fold_ >= (folds - 1) / 2).nonzero().squeeze(1);
    const Opinions joint = opinions(result, half_rows, half_rows);
    const Opinions apart = opinions(result, half_rows, partner_.index_select(0, half_rows));
    half_ = {best_mix(joint, {}, apart, {}, result.kept), {half_rows, half_rows}};
    return true;
  }

  void measure(MutualInformation& out) const {
    const at::NoGradGuard no_grad;
    const double kept = std::accumulate(kept_.begin(), kept_.end(), 0.0);
    const TwoScores f =
        best_mix(joint_, {}, shuffled_, {}, kept / static_cast<double>(kept_.size()));
    const double no_chi2 = std::numeric_limits<double>::infinity();  // nobody asks for it
    Divergences found = measure_divergences(f, fold_, fold_, no_chi2, options_.level);
    allow_for_bias(found, f, half_, {}, slow_learning);
    out.information = found.kl_numerator_denominator;
    for (double* one : {&out.information.value, &out.information.low})
      *one = std::min(*one, groups_.entropy);
    if (groups_.no_bound) out.information.high = std::numeric_limits<double>::infinity();
    out.information.high = std::min(out.information.high, groups_.largest_entropy);
    out.calibration = found.calibration;
    out.pointwise = found.calibration(f.f0);
    out.rows = f.f0.size(0);
    out.level = options_.level;
  }

  const Groups& groups_;
  MutualInformationOptions options_;
  Progress& progress_;
  Context context_;
  Strings names_;
  Tensor fold_, partner_;      // [n]: whose y a row gets in the shuffle of its own fold
  Opinions joint_, shuffled_;  // of the rows, and of the shuffle of each fold
  std::vector<double> kept_;   // what the fit of each fold decided for itself
  SomeScores half_;            // by a model of half as many rows
  std::mutex mutex_;
};

}  // namespace

MutualInformationOptions::MutualInformationOptions() : fit(quick_fit()) {
  fit.method = "auto";
  fit.train.steps = 4000;
  fit.train.batch = 128;
  fit.train.rate = 2e-3;
  fit.train.patience = 400;
}

void MutualInformationOptions::visit(OptionVisitor& v) {
  cross_fit.visit(v);
  pairs.visit(v);
  v("shuffles", shuffles, at_least(1),
    "shuffles of the rows that stand for independence, for a method by name");
  v("level", level, {0, 1, true, true}, "of the confidence interval");
  fit.visit(v);
}

MutualInformation mutual_information(const Groups& groups, const MutualInformationOptions& options,
                                     Progress& progress) {
  validate(options);
  make_samples(groups.x, {}, "the group x");  // as they should be, whoever has filled them in
  make_samples(groups.y, {}, "the group y");
  std::vector<std::string> names = groups.x_names;
  names.insert(names.end(), groups.y_names.begin(), groups.y_names.end());
  options.fit.columns.check_columns(names);
  check(options.cross_fit.folds >= 3, "mutual information needs 3 folds or more, got ",
        options.cross_fit.folds, ": a model of half of the rows shows how much is left to learn");
  check_same_rows(groups);
  check_rows_in_folds(groups, options.cross_fit.folds);
  return Measuring(groups, options, progress).run();
}

}  // namespace dre
