#include "dre/apps/cross_fit.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "dre/base/error.h"

namespace dre {
namespace {

Tensor rows_where(const Tensor& condition) { return condition.nonzero().squeeze(1); }

/// rows without those at the given places.
Tensor without(const Tensor& rows, const Tensor& places) {
  return rows.index_select(0, rows_where(at::ones_like(rows).index_fill(0, places, 0) > 0));
}

/// One progress for all folds, which are fitted side by side: counts finished folds.
class FoldProgress final : public Progress {
 public:
  FoldProgress(Progress& all, int64_t folds) : all_(all) { all_.begin("cross-fitting", folds); }
  ~FoldProgress() override { all_.end(); }
  FoldProgress(const FoldProgress&) = delete;
  FoldProgress& operator=(const FoldProgress&) = delete;

  void advance(int64_t, const std::string& note) override {
    const std::lock_guard lock(mutex_);
    all_.advance(done_, note);
  }
  void warn(const std::string& code, const std::string& message) override {
    const std::lock_guard lock(mutex_);
    all_.warn(code, message);
  }
  bool stop_requested() override {
    const std::lock_guard lock(mutex_);
    return all_.stop_requested();
  }
  void finish_fold() {
    const std::lock_guard lock(mutex_);
    all_.advance(++done_, "");
  }

 private:
  Progress& all_;
  std::mutex mutex_;
  int64_t done_ = 0;
};

/// The fits of all folds.
class CrossFitting {
 public:
  CrossFitting(const Samples& numerator, const Samples& denominator,
               const std::vector<std::string>& names, const CrossFitOptions& options,
               const FitOptions& fit_options, Progress& progress)
      : numerator_(numerator),
        denominator_(denominator),
        names_(names),
        options_(options),
        fit_options_(fit_options),
        context_{torch::kCPU, torch::kFloat32, static_cast<uint64_t>(fit_options.seed)},
        progress_(progress, options.folds) {
    fit_options_.columns = with_outliers_ranked(fit_options.columns, numerator, denominator, names);
    prepare(numerator, "folds numerator", out_.numerator);
    prepare(denominator, "folds denominator", out_.denominator);
  }

  CrossFit run() {
    std::vector<std::optional<FoldFit>> found(static_cast<size_t>(options_.folds));
    side_by_side(options_.folds, [&](int64_t fold) {
      found[static_cast<size_t>(fold)] = fit_without(fold);
      progress_.finish_fold();
    });
    for (auto& one : found) {
      out_.interrupted = out_.interrupted || one->result.interrupted;
      if (out_.interrupted) return std::move(out_);
      out_.fits.push_back(std::move(one->result));
      out_.trained.push_back(one->trained);
    }
    rate();
    return std::move(out_);
  }

 private:
  void prepare(const Samples& side, const char* stream, OutOfFold& rated) {
    auto generator = context_.generator(stream);
    rated = {{}, assign_folds(side.rows(), options_.folds, generator)};
  }

  /// A fit and the rows that trained it.
  struct FoldFit {
    FitResult result;
    RowsOfSides trained;
  };

  FoldFit fit_without(int64_t fold) {
    FitOptions own = fit_options_;
    own.seed = later_seed(own.seed, fold);
    auto generator = context_.generator(text("rows of fold ", fold));
    const auto others = [&](const OutOfFold& rated) {
      const Tensor all = rows_where(rated.fold != fold);
      return all.index_select(0, sampled_rows(all.size(0), options_.fit_rows, generator));
    };
    const Tensor rows0 = others(out_.numerator), rows1 = others(out_.denominator);
    FitResult result =
        fit_any(numerator_.take(rows0), denominator_.take(rows1), names_, own, progress_);
    const RowsOfSides trained{without(rows0, result.held_out_numerator),
                              without(rows1, result.held_out_denominator)};
    return {std::move(result), trained};
  }

  Opinions gathered(const Samples& side, const Tensor& fold) const {
    Opinions all = Opinions::empty(side.rows());
    for (size_t k = 0; k < out_.fits.size(); ++k) {
      const Tensor rows = rows_where(fold == static_cast<int64_t>(k));
      all.put(rows, opinions(out_.fits[k].estimator, side.x.index_select(0, rows)));
    }
    return all;
  }

  void rate() {
    const at::NoGradGuard no_grad;
    const Opinions all0 = gathered(numerator_, out_.numerator.fold);
    const Opinions all1 = gathered(denominator_, out_.denominator.fold);
    out_.believed = believed_opinions(all0, numerator_.weight, all1, denominator_.weight);
    const Opinions top = out_.believed(all0), bottom = out_.believed(all1);
    double kept = 0;
    for (const auto& fit : out_.fits) kept += kept_weight(fit);
    kept /= static_cast<double>(out_.fits.size());
    out_.share = learned_share(top, numerator_.weight, bottom, denominator_.weight, kept);
    out_.numerator.log_ratio = top.mixed(out_.share);
    out_.denominator.log_ratio = bottom.mixed(out_.share);
    const auto changed = [&](const Opinions& all, const OutOfFold& rated, const Samples& side) {
      const Tensor others = all.mixed(out_.share) != rated.log_ratio;
      return others.logical_and(side.weights() > 0).sum().item<int64_t>();
    };
    out_.refuted0 = changed(all0, out_.numerator, numerator_);
    out_.refuted1 = changed(all1, out_.denominator, denominator_);
    for (auto& fit : out_.fits) set_share(fit.estimator, out_.share);
  }

  const Samples &numerator_, &denominator_;
  const std::vector<std::string>& names_;
  CrossFitOptions options_;
  FitOptions fit_options_;
  Context context_;
  FoldProgress progress_;
  CrossFit out_;
};

}  // namespace

void side_by_side(int64_t count, const std::function<void(int64_t)>& work) {
  const int64_t threads = std::min<int64_t>(count, at::get_num_threads());
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto worker = [&] {
    // The number of threads inside an operation belongs to the thread that asks for it.
    if (threads > 1) at::set_num_threads(1);
    for (int64_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
  };
  const int before = at::get_num_threads();
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i) others.emplace_back(worker);
  worker();
  for (auto& thread : others) thread.join();
  at::set_num_threads(before);
  if (failure) std::rethrow_exception(failure);
}

void CrossFitOptions::visit(OptionVisitor& v) {
  v("folds", folds, between(2, most_folds),
    "every row is rated by a model fitted without its fold; compare and mi need 3 or more");
  v("fit-rows", fit_rows, at_least(10), "rows a side that a single fit uses at most");
}

FitOptions quick_fit() {
  FitOptions options;
  options.method = "which-time";
  options.train.steps = 2000;
  options.train.batch = 256;
  options.train.patience = 300;
  return options;
}

FitResult fit_any(const Samples& numerator, const Samples& denominator,
                  const std::vector<std::string>& names, FitOptions options, Progress& progress) {
  const auto held_out = static_cast<int64_t>(
      options.held_out * static_cast<double>(std::min(numerator.rows(), denominator.rows())));
  // Both ends of the bridge count twice.
  if (options.method == "which-time" && held_out < options.score.classes + 3)
    options.method = "nce";
  return fit(numerator, denominator, names, options, progress);
}

Tensor assign_folds(int64_t rows, int64_t folds, at::Generator& generator) {
  check_data(rows >= folds, "cannot make ", folds, " folds of ", rows, " rows; use fewer --folds");
  return at::randperm(rows, generator, torch::kInt64).remainder(folds);
}

Tensor sampled_rows(int64_t all, int64_t rows, at::Generator& generator) {
  if (all <= rows) return at::arange(all, torch::kInt64);
  const Tensor order = at::randperm(all, generator, torch::kInt64);
  return std::get<0>(order.slice(0, 0, rows).sort());
}

Samples sampled(const Samples& samples, int64_t rows, at::Generator& generator) {
  if (samples.rows() <= rows) return samples;
  return samples.take(sampled_rows(samples.rows(), rows, generator));
}

Tensor CrossFit::log_ratio(size_t fold, const Tensor& raw) const {
  return believed(opinions(fits[fold].estimator, raw)).mixed(share);
}

std::vector<Warning> judge_ratios(const CrossFit& rated) {
  if (rated.refuted0 + rated.refuted1 == 0) return {};
  return {
      {"refuted-ratios",
       text("what the models say of ", rated.refuted0 + rated.refuted1, " rows (", rated.refuted0,
            " of the numerator, ", rated.refuted1,
            " of the denominator) is refuted by the rows themselves, as where a few break a rule "
            "that all others keep; the numbers of such rows count instead")}};
}

CrossFit cross_fit(const Samples& numerator, const Samples& denominator,
                   const std::vector<std::string>& names, const CrossFitOptions& options,
                   const FitOptions& fit_options, Progress& progress) {
  validate(options);
  return CrossFitting(numerator, denominator, names, options, fit_options, progress).run();
}

SomeScores rate_seen(const CrossFit& rated, const Samples& numerator, const Samples& denominator,
                     at::Generator& generator) {
  const at::NoGradGuard no_grad;
  constexpr int64_t most = 2000;
  std::vector<Tensor> f0, f1, rows0, rows1;
  const auto rate = [&](size_t fold, const Samples& side, const Tensor& trained,
                        std::vector<Tensor>& f, std::vector<Tensor>& rows) {
    const Tensor counts = trained.masked_select(side.weights().index_select(0, trained) > 0);
    rows.push_back(counts.index_select(0, sampled_rows(counts.size(0), most, generator)));
    f.push_back(rated.log_ratio(fold, side.x.index_select(0, rows.back())));
  };
  for (size_t k = 0; k < rated.fits.size(); ++k) {
    rate(k, numerator, rated.trained[k].numerator, f0, rows0);
    rate(k, denominator, rated.trained[k].denominator, f1, rows1);
  }
  const Tensor all0 = at::cat(rows0), all1 = at::cat(rows1);
  return {{at::cat(f0), numerator.take(all0).weight, at::cat(f1), denominator.take(all1).weight},
          {all0, all1}};
}

}  // namespace dre
