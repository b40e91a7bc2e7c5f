#include "dre/apps/fit.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/data/atoms.h"
#include "dre/data/split.h"
#include "dre/ratio/believed.h"
#include "dre/ratio/gaussian_reference.h"

namespace dre {
namespace {

/// The bridge that a method takes when none is asked for.
const std::vector<Named<const char*>>& default_bridges() {
  static const std::vector<Named<const char*>> table = {
      {"which-time", "trigonometric"},
      {"which-time-continuous", "trigonometric"},
      {"time", "brownian"},
      {"joint", "brownian"},
      {"conditional", "brownian"},
      {"conditional-vector", "brownian"},
      {"velocity", "brownian"},
      {"nce", "linear"},  // a two-class classifier sees the sides only
      {"tre", "trigonometric"},
      {"infinitesimal", "brownian"},
  };
  return table;
}

BridgeOptions resolve_bridge(const FitOptions& options, const std::string& method) {
  BridgeOptions bridge = options.bridge;
  if (bridge.bridge == "auto" || method == "nce")
    bridge.bridge = choose("method", default_bridges(), method);
  return bridge;
}

Names fitted_methods(const std::string& method) {
  return method == "auto" ? Names{"which-time", "tre"} : Names{method};
}

/// Times that a method tells apart in one batch; 0 for those that do not.
int64_t times_told_apart(const std::string& method, const FitOptions& options) {
  if (method == "which-time") return options.score.classes;
  return method == "which-time-continuous" ? options.objective.random_times : 0;
}

void check_times(const FitOptions& options) {
  const bool by_scores = options.method == "time" || options.method == "joint";
  check(options.times.clip == 0 || options.objective.matching != "boundary" || !by_scores,
        "--time-clip leaves out times that --matching boundary needs at the ends; use --matching "
        "pathwise, or no clip");
}

struct TwoSides {
  Samples numerator, denominator;
};

/// The rows that training sees: those with atoms, as categories have, blurred alike on both sides.
TwoSides blurred(const AtomNoise& noise, const Samples& numerator, const Samples& denominator,
                 const Context& context) {
  auto first = context.generator("atoms numerator"),
       second = context.generator("atoms denominator");
  return {noise.add(numerator, first), noise.add(denominator, second)};
}

/// One fit from start to end: coordinates and reference once, then member after member.
class Fitting {
 public:
  Fitting(const Samples& numerator, const Samples& denominator,
          const std::vector<std::string>& names, const FitOptions& options, Progress& progress,
          const Checkpointing& checkpointing)
      : options_(options),
        progress_(progress),
        checkpointing_(checkpointing),
        context_{device_by_name(options.device), torch::kFloat32,
                 static_cast<uint64_t>(options.seed)},
        atoms_(AtomNoise::fit(numerator, denominator)),
        rows_(blurred(atoms_, numerator, denominator, context_)),
        result_{make_estimator(numerator, denominator, names), {}, {}, {}} {
    const Coordinates& coordinates = result_.estimator.coordinates();
    auto first = context_.generator("split numerator"),
         second = context_.generator("split denominator");
    Split split0 = split(coordinates.forward(rows_.numerator), options.held_out, first);
    Split split1 = split(coordinates.forward(rows_.denominator), options.held_out, second);
    data_ = {split0.train, split1.train, split0.held_out, split1.held_out};
    const int64_t fewest =
        std::min(split0.held_out.positive().rows(), split1.held_out.positive().rows());
    check_data(fewest >= 2, "of one side ", fewest, " of the rows that count would be held out, ",
               "and 2 are needed to judge by; give more rows, or a larger --held-out");
    result_.held_out_numerator = split0.held_out_rows;
    result_.held_out_denominator = split1.held_out_rows;
    if (atoms_.any())
      at_atoms_ = {coordinates.forward(numerator.take(split0.held_out_rows)),
                   coordinates.forward(denominator.take(split1.held_out_rows))};
    rows_ = {};
    // Of the rows that training sees: the others judge.
    if (result_.estimator.uses_reference() && atoms_.everywhere())
      count_cells(numerator.take(split0.train_rows), denominator.take(split1.train_rows));
  }

  FitResult run() {
    const NamedTensors& resume = checkpointing_.resume;
    check_data(resume.empty() || !under(resume, "member0").empty(),
               "what the fit should go on from is not the state of a fit; start anew, without it");
    for (const auto& method : fitted_methods(options_.method)) {
      if (!enough_held_out(method)) continue;
      train(method);
      if (result_.interrupted) return std::move(result_);
    }
    weigh();
    return std::move(result_);
  }

 private:
  /// A classifier of times is judged by a row of every time and two of both ends. Too few are an
  /// error for a method that was asked for by name; "auto" goes without it.
  bool enough_held_out(const std::string& method) const {
    const int64_t times = times_told_apart(method, options_);
    const int64_t there =
        std::max(data_.held_out_numerator.rows(), data_.held_out_denominator.rows());
    if (times == 0 || there >= times + 2) return true;
    check_data(options_.method == "auto", "method ", method, " tells ", times,
               " times apart and needs ", times + 2, " held-out rows, but only ", there,
               " are held out; give more rows, a larger --held-out, or another --method such as "
               "nce");
    return false;
  }

  Estimator make_estimator(const Samples& numerator, const Samples& denominator,
                           const std::vector<std::string>& names) {
    Coordinates coordinates = Coordinates::fit(numerator, denominator, names, options_.columns,
                                               rows_.numerator, rows_.denominator);
    GaussianEnds ends = gaussian_reference(coordinates.basis().moments(), numerator, denominator);
    if (atoms_.any())
      ends = gaussian_reference_at_atoms(ends, coordinates.forward(numerator),
                                         coordinates.forward(denominator));
    return Estimator(std::move(coordinates), std::move(ends), options_.reference == "gaussian",
                     context_);
  }

  void count_cells(const Samples& numerator, const Samples& denominator) {
    Estimator& estimator = result_.estimator;
    const Samples top = estimator.coordinates().forward(numerator);
    const Samples bottom = estimator.coordinates().forward(denominator);
    estimator.cells = CellTable::fit(top, estimator.reference_log_ratio(top.x), bottom,
                                     estimator.reference_log_ratio(bottom.x), options_.guard);
  }

  void train(const std::string& method) {
    const auto start = std::chrono::steady_clock::now();
    const BridgeOptions bridge = resolve_bridge(options_, method);
    Member member = result_.estimator.make_member(method, bridge, options_.score);
    const auto objective =
        make_objective(method, *member.score, member.gaussian->bridge_pointer(),
                       second_moments(result_.estimator.ends()), options_.objective);
    const auto times = make_time_sampler(options_.times);
    Trainer trainer(*objective, member.score->network().parameters(), *times, data_, options_.train,
                    context_.child(method));
    const TrainResult training = run_or_resume(trainer);
    if (training.status == TrainResult::Status::interrupted) {
      result_.interrupted = true;
      return;
    }
    MemberReport report{method, bridge.bridge, training};
    if (options_.correction) correct(member);
    const RatedSides rated = rate(member);
    report.held_out_logistic = logistic_loss(rated.numerator, rated.denominator);
    const int64_t some = 30;  // rows whose mean has a standard error worth its name
    // What is surely better than a Gaussian along the bridge need not be better than counts.
    const bool by_bridge = result_.estimator.cells.empty() && is_sure(training.gain);
    report.kept = !result_.estimator.uses_reference() || by_bridge ||
                  is_sure(gain_at_the_ends(rated, some).value_or(Measured{0, 0}));
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result_.members.push_back(std::move(report));
    result_.estimator.add(std::move(member));
  }

  /// Trains from the start or from a checkpoint. A finished member's state ends its loop at once,
  /// so that going on is the same code as starting.
  TrainResult run_or_resume(Trainer& trainer) {
    const std::string own = text("member", result_.members.size());
    const NamedTensors saved = under(checkpointing_.resume, own);
    if (!saved.empty()) trainer.restore(saved);
    const auto save = [&] {
      if (!checkpointing_.save) return;
      NamedTensors all = finished_;
      append(all, own, trainer.state());
      checkpointing_.save(all);
    };
    const TrainResult training = trainer.run(progress_, save);
    if (training.status == TrainResult::Status::interrupted) save();
    append(finished_, own, trainer.state());
    return training;
  }

  void correct(Member& member) {
    auto generator = context_.generator("correction");
    const Measured error =
        normalisation_error(*member.score, *member.gaussian, data_.held_out_numerator.to(context_),
                            data_.held_out_denominator.to(context_), generator);
    member.correction = error.shrunk();
  }

  /// The held-out rows; where counts have a say, which know the rows themselves only, without the
  /// noise of training.
  TwoSides held_out() const {
    if (!result_.estimator.cells.empty()) return at_atoms_;
    return {data_.held_out_numerator, data_.held_out_denominator};
  }

  /// Log-ratios of held-out rows.
  struct RatedSides {
    RatedRows numerator, denominator;
  };

  template <class LogRatio>
  RatedSides rate_by(const TwoSides& sides, const LogRatio& log_ratio) const {
    const auto rate = [&](const Samples& side) -> RatedRows {
      return {log_ratio(side.x), side.weights()};
    };
    return {rate(sides.numerator), rate(sides.denominator)};
  }

  RatedSides rate(const Member& member) const {
    return rate_by(held_out(), [&](const Tensor& z) {
      const Tensor x = z.to(context_.options());
      return horizontal_ratio(*member.score, *member.gaussian, x, {}).log_ratio.cpu() +
             member.correction;
    });
  }

  RatedSides rate_reference(const TwoSides& sides) const {
    return rate_by(sides,
                   [&](const Tensor& z) { return result_.estimator.reference_log_ratio(z); });
  }

  RatedSides rate_estimator(const TwoSides& sides) const {
    return rate_by(sides,
                   [&](const Tensor& z) { return result_.estimator.log_ratio_at(z).log_ratio; });
  }

  bool is_sure(const Measured& gain) const {
    return gain.value > options_.guard * gain.standard_error;
  }

  void weigh() {
    weigh_by_guard();
    const bool any_kept = std::any_of(result_.members.begin(), result_.members.end(),
                                      [](const MemberReport& report) { return report.kept; });
    if (!any_kept && atoms_.any()) weigh_by_share();
  }

  /// Of columns with atoms the reference is wrong even where nothing better is sure as a whole: all
  /// members alike get the share of their deviation that the held-out rows ask for, as far as it is
  /// sure. They are asked without the noise of training, which hides how good a log-ratio is. Of 32
  /// pairs of equal tables (1 000 rows, rare levels too) one got a share, 0.03.
  void weigh_by_share() {
    auto& members = result_.estimator.members();
    const RatedSides base = rate_reference(at_atoms_);
    if (deciding_rows(base.numerator, base.denominator) < fewest_deciding_rows) return;
    for (auto& member : members) member.weight = 1 / static_cast<double>(members.size());
    const RatedSides learned = rate_estimator(at_atoms_);
    const Measured share =
        best_share(base.numerator, base.denominator, learned.numerator, learned.denominator, 2);
    // The usual guard of three standard errors leaves what is beyond two, others in proportion;
    // none at all would make an infinite error no number.
    const double strictness = std::max(options_.guard / 3, 1e-9);
    const Measured guarded{share.value, share.standard_error * strictness};
    const double sure = std::min(1.0, guarded.shrunk());
    for (auto& member : members) member.weight *= sure;
    for (auto& report : result_.members) report.kept = sure > 0;
  }

  /// Equal weights for the members that beat the reference.
  void weigh_by_guard() {
    double kept = 0;
    for (const auto& report : result_.members) kept += report.kept;
    for (size_t i = 0; i < result_.members.size(); ++i)
      result_.estimator.members()[i].weight = result_.members[i].kept ? 1 / kept : 0;
    if (kept == 0 || !result_.estimator.uses_reference()) return;
    const auto gain = gain_at_the_ends(rate_estimator(held_out()), fewest_deciding_rows);
    const double needed = std::min(1.0, options_.guard);
    if (gain && gain->value <= needed * gain->standard_error) {
      for (auto& report : result_.members) report.kept = false;
      for (auto& member : result_.estimator.members()) member.weight = 0;
    }
  }

  /// By how much log-ratios tell the sides better apart than the reference's do. A member can
  /// describe the bridge better and log r no better, as on two equal sides that are not Gaussian;
  /// or log r much better, while the loss along the bridge is too noisy to show it. Nothing where
  /// fewer than `fewest` rows decide: on sides that hardly overlap every good model's logistic
  /// loss is nearly zero.
  std::optional<Measured> gain_at_the_ends(const RatedSides& learned, double fewest) const {
    const RatedSides base = rate_reference(held_out());
    if (deciding_rows(base.numerator, base.denominator) < fewest) return {};
    // One row that breaks a rule which all others keep must not decide alone.
    const auto believed = [](const RatedSides& all) -> RatedSides {
      const BelievedRange range = believed_range(all.numerator, all.denominator);
      return {{range(all.numerator.log_ratio), all.numerator.weight},
              {range(all.denominator.log_ratio), all.denominator.weight}};
    };
    const RatedSides one = believed(base), other = believed(learned);
    return logistic_gain(one.numerator, one.denominator, other.numerator, other.denominator);
  }

  FitOptions options_;
  Progress& progress_;
  const Checkpointing& checkpointing_;
  Context context_;
  AtomNoise atoms_;
  TwoSides rows_;  // until the split
  TrainData data_;
  TwoSides at_atoms_;  // the held-out rows without noise, where there are atoms
  FitResult result_;
  NamedTensors finished_;  // states of the members trained so far
};

}  // namespace

void FitOptions::visit(OptionVisitor& v) {
  v("method", method, fit_method_names(), "how the ratio is learned");
  v("reference", reference, {"gaussian", "none"},
    "learn the deviation from the Gaussian path, or everything");
  v("correction", correction, "remove the normalisation error measured on held-out rows");
  v("guard", guard, at_least(0),
    "standard errors by which training must beat the reference to count in full");
  v("held-out", held_out, {0, 1, true, true}, "share of the rows that judge and stop the training");
  v("seed", seed, at_least(0), "seed of everything random");
  v("device", device, {"auto", "cpu", "cuda"}, "where the networks live");
  Names bridges = {"auto"};
  for (const auto& name : BridgeOptions::bridge_names()) bridges.push_back(name);
  bridge.visit(v, bridges);
  score.visit(v);
  objective.visit(v);
  times.visit(v);
  train.visit(v);
  columns.visit(v);
}

FitResult fit(const Samples& numerator, const Samples& denominator,
              const std::vector<std::string>& names, const FitOptions& options, Progress& progress,
              const Checkpointing& checkpointing) {
  validate(options);
  check_times(options);
  options.columns.check_columns(names);
  return Fitting(numerator, denominator, names, options, progress, checkpointing).run();
}

Names fit_method_names() {
  Names names = {"auto"};
  for (const auto& name : method_names()) names.push_back(name);
  return names;
}

}  // namespace dre
