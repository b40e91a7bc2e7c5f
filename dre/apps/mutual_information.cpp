#include "dre/apps/mutual_information.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "dre/base/error.h"
#include "dre/data/column_transform.h"
#include "dre/data/encoding_plan.h"
#include "dre/data/place.h"
#include "dre/data/reader.h"
#include "dre/data/source.h"
#include "dre/numeric/statistics.h"

namespace dre {
namespace {

using Strings = std::vector<std::string>;

Frame read_columns(const GroupsOptions& options, const Strings& columns) {
  ReadOptions read;
  read.columns = columns;
  read.missing = options.missing == "error" ? "error" : "keep";
  read.words = "keep";
  read.numbers = options.numeric;
  const auto reader = open_table(options.data, read);
  FrameOptions frame;
  frame.categories = options.categorical;
  frame.max_rows = options.max_rows;
  FrameBuilder builder(input_name(options.data), reader->columns(), frame);
  const auto width = std::max<int64_t>(1, static_cast<int64_t>(reader->columns().size()));
  while (const auto block = reader->next(std::max<int64_t>(1, (int64_t{1} << 20) / width)))
    builder.add(*block);
  return std::move(builder).finish();
}

/// The encoded columns of one group, without those that are constant.
Tensor encoded(const Frame& frame, size_t from, size_t to, Strings& names) {
  Frame part{{frame.columns.begin() + static_cast<std::ptrdiff_t>(from),
              frame.columns.begin() + static_cast<std::ptrdiff_t>(to)},
             frame.rows,
             frame.rows_read};
  Frame other = part;
  const Encoding encoding = make_encoding(part, other).encoding;
  check_data(!encoding.names().empty(),
             "no column of a group can be used: ", listed({frame.columns[from].name}),
             " and those behind it hold one value, none, or a "
             "different text in every row");
  const Tensor values = encoding.encode(part).values;
  const Samples samples = make_samples(values, {}, "the table");
  const ConstantColumns found = constant_columns(samples, samples, encoding.names());
  std::vector<int64_t> kept;
  for (size_t j = 0; j < encoding.names().size(); ++j) {
    const std::string name = encoding.names()[j];
    if (std::find(found.constant.begin(), found.constant.end(), name) != found.constant.end())
      continue;
    kept.push_back(static_cast<int64_t>(j));
    names.push_back(name);
  }
  check_data(!kept.empty(), "every column of a group is constant: ", listed(encoding.names()));
  return values.index_select(1, torch::tensor(kept));
}

Strings first_columns(const GroupsOptions& options, int64_t count) {
  check(options.data != "-" && !is_stream(options.data),
        "the columns of a stream must be named with --x and --y");
  Strings all = open_table(options.data)->columns();
  check_data(static_cast<int64_t>(all.size()) >= count, input_name(options.data), " has ",
             all.size(), " columns, but ", count, " are asked for");
  all.resize(static_cast<size_t>(count));
  return all;
}

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
    joint_ = torch::empty({groups.x.size(0)}, torch::kFloat64);
    shuffled_ = torch::empty_like(joint_);
    half_joint_ = torch::empty_like(joint_);
    half_shuffled_ = torch::empty_like(joint_);
  }

  MutualInformation run() {
    const int64_t folds = options_.cross_fit.folds;
    std::atomic<bool> interrupted = false;
    progress_.begin("cross-fitting", folds + 1);
    std::atomic<int64_t> done = 0;
    side_by_side(folds + 1, [&](int64_t job) {
      if (interrupted) return;
      const bool finished =
          job < folds ? rate(job, 1, joint_, shuffled_) : rate(0, 2, half_joint_, half_shuffled_);
      if (!finished) interrupted = true;
      const std::lock_guard lock(mutex_);
      progress_.advance(++done, "");
    });
    progress_.end();
    MutualInformation out;
    out.interrupted = interrupted;
    if (out.interrupted) return out;
    const TwoScores f{joint_, {}, shuffled_, {}};
    Divergences found = measure_divergences(f, fold_, fold_, false, options_.level);
    const Tensor first = (fold_ == 0).nonzero().squeeze(1);
    const TwoScores half{
        half_joint_.index_select(0, first), {}, half_shuffled_.index_select(0, first), {}};
    allow_for_learning(found, f, half, first, first);
    out.information = found.kl_numerator_denominator;
    out.calibration = found.calibration;
    out.pointwise = found.calibration(joint_);
    out.rows = joint_.size(0);
    out.level = options_.level;
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

  Tensor rows(const Tensor& which, const Tensor& y_which) const {
    return torch::cat({groups_.x.index_select(0, which), groups_.y.index_select(0, y_which)}, 1);
  }

  /// `times` shuffles of the rows, none of which keeps its own partner more often than by chance.
  Tensor shuffled(const Tensor& which, int64_t times, at::Generator& generator) const {
    std::vector<Tensor> all;
    for (int64_t i = 0; i < times; ++i) {
      const Tensor order = at::randperm(which.size(0), generator, torch::kInt64);
      all.push_back(rows(which, which.index_select(0, order)));
    }
    return torch::cat(all);
  }

  /// Rates the rows of a fold by a model of the others, or of every `part`-th of them. The fold's
  /// own shuffle does not depend on that. False: interrupted.
  bool rate(int64_t fold, int64_t part, Tensor& joint_to, Tensor& shuffled_to) {
    const at::AutoGradMode with_grad(true);
    auto generator = context_.generator(text("shuffles of fold ", fold));
    Tensor others = (fold_ != fold).nonzero().squeeze(1);
    others = others.slice(0, 0, others.size(0), part).contiguous();
    if (others.size(0) > options_.cross_fit.fit_rows)
      others = others.index_select(0, at::randperm(others.size(0), generator, torch::kInt64)
                                          .slice(0, 0, options_.cross_fit.fit_rows));
    FitOptions own = options_.fit;
    own.seed += fold;
    Quiet quiet(progress_, mutex_);
    const FitResult result =
        fit_any(make_samples(rows(others, others)),
                make_samples(shuffled(others, options_.shuffles, generator)), names_, own, quiet);
    if (result.interrupted) return false;
    const torch::NoGradGuard no_grad;
    const Tensor mine = (fold_ == fold).nonzero().squeeze(1);
    const Tensor joint = result.estimator.log_ratio(rows(mine, mine)).log_ratio;
    auto own_generator = context_.generator(text("own shuffle of fold ", fold));
    const Tensor apart = result.estimator.log_ratio(shuffled(mine, 1, own_generator)).log_ratio;
    const std::lock_guard lock(mutex_);
    joint_to.index_copy_(0, mine, joint);
    shuffled_to.index_copy_(0, mine, apart);
    return true;
  }

  const Groups& groups_;
  MutualInformationOptions options_;
  Progress& progress_;
  Context context_;
  Strings names_;
  Tensor fold_, joint_, shuffled_;
  Tensor half_joint_, half_shuffled_;  // of the first fold, by a model of half of the rows
  std::mutex mutex_;
};

}  // namespace

void GroupsOptions::visit(OptionVisitor& v) {
  v("data", data, {}, "file with the rows; - is standard input");
  v("x", x, "columns of the first group");
  v("y", y, "columns of the second group");
  v("categorical", categorical, "take these columns as categories, numbers or not");
  v("numeric", numeric, "these columns must hold numbers; any other text is an error");
  v("missing", missing, {"encode", "error"},
    "missing values: encode them with an indicator column, or refuse them");
  v("max-rows", max_rows, at_least(10), "rows at most; of more a random sample is kept");
}

Groups load_groups(const GroupsOptions& options, int64_t dx, int64_t dy) {
  check(!options.data.empty(), "no data; give a file");
  check(options.x.empty() == options.y.empty(), "--x and --y must be given together");
  Strings columns = options.x;
  columns.insert(columns.end(), options.y.begin(), options.y.end());
  if (columns.empty()) {
    check(dx > 0 && dy > 0, "say which columns: --x a,b --y c,d, or FILE DX DY");
    columns = first_columns(options, dx + dy);
  } else {
    check(dx == 0 && dy == 0, "give --x and --y, or DX and DY, not both");
    dx = static_cast<int64_t>(options.x.size());
  }
  const Frame frame = read_columns(options, columns);
  Groups out;
  out.x = encoded(frame, 0, static_cast<size_t>(dx), out.x_names);
  out.y = encoded(frame, static_cast<size_t>(dx), columns.size(), out.y_names);
  if (frame.rows < frame.rows_read)
    out.warnings.push_back(
        {"sampled-rows", text("a random sample of ", frame.rows, " of the ", frame.rows_read,
                              " rows is used; --max-rows "
                              "sets how many")});
  return out;
}

MutualInformationOptions::MutualInformationOptions() : fit(quick_fit()) {
  fit.train.steps = 4000;
  fit.train.patience = 600;
}

void MutualInformationOptions::visit(OptionVisitor& v) {
  cross_fit.visit(v);
  v("shuffles", shuffles, at_least(1), "shuffles of the rows that stand for independence");
  v("level", level, {0, 1, true, true}, "of the confidence interval");
  fit.visit(v);
}

MutualInformation mutual_information(const Groups& groups, const MutualInformationOptions& options,
                                     Progress& progress) {
  validate(options);
  check(groups.x.size(0) == groups.y.size(0), "both groups need the same rows, got ",
        groups.x.size(0), " and ", groups.y.size(0));
  return Measuring(groups, options, progress).run();
}

}  // namespace dre
