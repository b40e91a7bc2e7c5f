#include "dre/apps/pair_critic.h"

#include <algorithm>
#include <cmath>

#include "dre/base/error.h"
#include "dre/data/atoms.h"
#include "dre/data/split.h"
#include "dre/network/dense.h"

namespace dre {
namespace {

constexpr int64_t largest_block = 512;
constexpr int64_t rows_at_once = 8192;
constexpr int64_t reference_shuffles = 4;

Tensor shuffled(const Tensor& rows, at::Generator& generator) {
  return rows.index_select(0, at::randperm(rows.size(0), generator, torch::kInt64));
}

/// The Gaussian log-ratio of pairs as a dot product: with z = z_x + z_y in the basis that makes the
/// covariances of pairs and pairings diagonal, it is c + l(z_x) + l(z_y) - (w z_x)·z_y,
/// l(z) = h·z - w·z²/2, w = 1/V0 - 1/V1, h = m0/V0 - m1/V1. In float64: where x and y nearly decide
/// each other, large terms leave a small sum.
class PairReference final {
 public:
  /// u: [n, dx], v: [n, dy] in coordinates of their own, float64.
  PairReference(const Tensor& u, const Tensor& v, at::Generator& generator, const Context& context)
      : basis_(fit_basis(u, v, generator)) {
    const auto n = static_cast<double>(u.size(0));
    const Moments m = threshold(basis_.moments(), n, n * reference_shuffles);
    ends_ = {m.mean0, m.variance0, m.mean1, m.variance1};
    const Tensor origin = basis_.forward(torch::zeros({1, basis_.columns()}, torch::kFloat64));
    const Tensor map = basis_.forward(torch::eye(basis_.columns(), torch::kFloat64)) - origin;
    const Tensor constant = gaussian_log_ratio(ends_, torch::zeros_like(origin));
    x_map_ = map.slice(0, 0, u.size(1)).to(context.device);
    y_map_ = map.slice(0, u.size(1)).to(context.device);
    origin_ = origin.to(context.device);
    constant_ = constant.to(context.device);
    curvature_ = (1 / m.variance0 - 1 / m.variance1).to(context.device);
    slope_ = (m.mean0 / m.variance0 - m.mean1 / m.variance1).to(context.device);
  }

  /// Of every u with every v: [n, n].
  Tensor scores(const Tensor& u, const Tensor& v) const {
    const Tensor left = u.to(torch::kFloat64).matmul(x_map_);
    const Tensor right = v.to(torch::kFloat64).matmul(y_map_) + origin_;
    return own(left) + own(right).t() + constant_ - (curvature_ * left).matmul(right.t());
  }

  /// Of the pairs, on the host: [n].
  Tensor log_ratio(const Tensor& u, const Tensor& v) const {
    return gaussian_log_ratio(ends_, basis_.forward(torch::cat({u, v}, 1)));
  }

 private:
  static Basis fit_basis(const Tensor& u, const Tensor& v, at::Generator& generator) {
    std::vector<Tensor> apart;
    for (int64_t i = 0; i < reference_shuffles; ++i)
      apart.push_back(torch::cat({u, shuffled(v, generator)}, 1));
    return Basis::fit(make_samples(torch::cat({u, v}, 1)), make_samples(torch::cat(apart)));
  }

  Tensor own(const Tensor& z) const {
    return (z * (slope_ - 0.5 * curvature_ * z)).sum(1, /*keepdim=*/true);
  }

  Basis basis_;
  GaussianEnds ends_;
  Tensor x_map_, y_map_, origin_, constant_, curvature_, slope_;
};

/// The networks of x and y.
class Towers final {
 public:
  Towers(int64_t dx, int64_t dy, int64_t rank, const ScoreOptions& options, const Context& context)
      : dx_(dx) {
    auto generator = context.generator("weights");
    const auto widths = [&](int64_t inputs) {
      std::vector<int64_t> all = {inputs};
      all.insert(all.end(), static_cast<size_t>(options.depth), options.width);
      all.push_back(rank);
      return all;
    };
    // Training starts at the reference: one factor of each product is zero; were both, neither
    // would have a gradient.
    x_ = add_stack(parameters_, "x", widths(dx), options.activation, true, context, generator);
    y_ = add_stack(parameters_, "y", widths(dy), options.activation, false, context, generator);
  }

  /// u: [n, dx], v: [m, dy] -> factors whose products, summed up, are what is learned: [n, rank],
  /// [m, rank].
  Tensor left(const Tensor& u) const { return x_(u).value; }
  Tensor right(const Tensor& v) const { return y_(v).value; }

  int64_t dx() const { return dx_; }
  Parameters& parameters() { return parameters_; }

 private:
  int64_t dx_;
  Parameters parameters_;
  DenseStack x_, y_;
};

/// The rows of a batch are pairs (u, v) side by side; its other half is not looked at.
class PairObjective final : public Objective {
 public:
  /// reference: none where it is null.
  PairObjective(const Towers& towers, const PairReference* reference)
      : towers_(towers), reference_(reference) {}

  Terms terms(const Batch& batch, const Tensor&, at::Generator&) const override {
    const Tensor u = batch.x0.slice(1, 0, towers_.dx()), v = batch.x0.slice(1, towers_.dx());
    const Tensor left = towers_.left(u), right = towers_.right(v);
    // Pairings grow with the square of the rows: many rows are told apart block by block.
    const int64_t n = left.size(0), blocks = (n + largest_block - 1) / largest_block;
    std::vector<Tensor> losses;
    for (int64_t i = 0; i < blocks; ++i) {
      const auto own = [&](const Tensor& rows) {
        return rows.slice(0, i * n / blocks, (i + 1) * n / blocks);
      };
      Tensor scores = own(left).matmul(own(right).t());
      if (reference_) scores = scores + reference_->scores(own(u), own(v)).to(scores.scalar_type());
      losses.push_back(loss(scores));
    }
    return {{}, torch::cat(losses)};
  }
  Interval interval() const override { return {0, 1}; }

 private:
  /// scores: [n, n] -> [n]
  static Tensor loss(const Tensor& scores) {
    const auto n = static_cast<double>(scores.size(0));
    const Tensor own = scores.diagonal();
    const Tensor apart = torch::softplus(scores);
    const Tensor logistic =
        torch::softplus(-own) + (apart.sum(1) - apart.diagonal()) / std::max(1.0, n - 1);
    return 0.5 * (torch::logsumexp(scores, 0) + torch::logsumexp(scores, 1)) - own - std::log(n) +
           logistic;
  }

  const Towers& towers_;
  const PairReference* reference_;
};

/// Of groups of which one does not vary: nothing depends on it.
class Independence final : public PairCritic {
 public:
  Opinions opinions(const Tensor& x, const Tensor&) const override {
    const Tensor none = torch::zeros({x.size(0)}, torch::kFloat64);
    return {none, none};
  }
};

bool varies(const Tensor& rows) { return (rows.amax(0) > rows.amin(0)).any().item<bool>(); }

/// The mean of several pairs of networks.
class Critic final : public PairCritic {
 public:
  Critic(Coordinates x, Coordinates y, std::shared_ptr<const PairReference> reference,
         std::vector<std::unique_ptr<const Towers>> members, const Context& context)
      : x_(std::move(x)),
        y_(std::move(y)),
        reference_(std::move(reference)),
        members_(std::move(members)),
        context_(context) {}

  Opinions opinions(const Tensor& x, const Tensor& y) const override {
    const at::NoGradGuard no_grad;
    std::vector<Tensor> reference, learned;
    for (int64_t first = 0; first < x.size(0); first += rows_at_once) {
      const Opinions some = of_block(x.slice(0, first, first + rows_at_once),
                                     y.slice(0, first, first + rows_at_once));
      reference.push_back(some.reference);
      learned.push_back(some.learned);
    }
    return {torch::cat(reference), torch::cat(learned)};
  }

 private:
  Opinions of_block(const Tensor& x, const Tensor& y) const {
    const Tensor u = x_.forward(x), v = y_.forward(y);
    const Tensor near_u = u.to(context_.options()), near_v = v.to(context_.options());
    Tensor learned = torch::zeros({u.size(0)}, torch::kFloat64);
    for (const auto& member : members_)
      learned += (member->left(near_u) * member->right(near_v)).sum(1).cpu();
    learned /= static_cast<double>(members_.size());
    if (!reference_) return {learned, learned};
    const Tensor reference = reference_->log_ratio(u, v);
    return {reference, reference + learned};
  }

  Coordinates x_, y_;
  std::shared_ptr<const PairReference> reference_;
  std::vector<std::unique_ptr<const Towers>> members_;
  Context context_;
};

/// One fit from start to end: coordinates and reference once, then member after member.
class PairFitting final {
 public:
  PairFitting(const Tensor& x, const Tensor& y, const std::vector<std::string>& x_names,
              const std::vector<std::string>& y_names, const PairCriticOptions& options,
              const FitOptions& fit)
      : options_(options),
        fit_(fit),
        context_{device_by_name(fit.device), torch::kFloat32, static_cast<uint64_t>(fit.seed)},
        blurred_x_(blurred(x, "atoms x")),
        blurred_y_(blurred(y, "atoms y")),
        x_(coordinates(x, blurred_x_, x_names)),
        y_(coordinates(y, blurred_y_, y_names)) {
    const Tensor u = x_.forward(blurred_x_), v = y_.forward(blurred_y_);
    blurred_x_ = blurred_y_ = Tensor();
    auto generator = context_.generator("shuffles");
    if (fit.reference == "gaussian")
      reference_ = std::make_shared<PairReference>(u, v, generator, context_);
    dx_ = u.size(1);
    rows_ = make_samples(torch::cat({u, v}, 1).to(torch::kFloat32));
  }

  PairFit run(Progress& progress) {
    PairFit out;
    std::vector<std::unique_ptr<const Towers>> members;
    for (int64_t i = 0; i < options_.members; ++i) {
      const Context own = context_.child(text("member ", i));
      auto towers =
          std::make_unique<Towers>(dx_, rows_.columns() - dx_, options_.rank, fit_.score, own);
      const TrainResult training = train(*towers, own, progress);
      out.interrupted = training.status == TrainResult::Status::interrupted;
      if (out.interrupted) return out;
      const bool kept =
          !reference_ || training.gain.value > fit_.guard * training.gain.standard_error;
      out.kept += kept ? 1 / static_cast<double>(options_.members) : 0;
      members.push_back(std::move(towers));
    }
    out.critic = std::make_shared<Critic>(x_, y_, reference_, std::move(members), context_);
    return out;
  }

 private:
  /// Categories and other atoms as narrow bumps, without which the reference would see directions
  /// that hardly vary where one group nearly decides the other.
  Tensor blurred(const Tensor& rows, const char* stream) const {
    const Samples samples = make_samples(rows);
    auto generator = context_.generator(stream);
    return AtomNoise::fit(samples, samples).add(samples, generator).x;
  }

  Coordinates coordinates(const Tensor& rows, const Tensor& blurred_rows,
                          const std::vector<std::string>& names) const {
    const Samples samples = make_samples(rows), blurred = make_samples(blurred_rows);
    return Coordinates::fit(samples, samples, names, fit_.columns, blurred, blurred);
  }

  /// Every member holds out other rows: what one does not learn from, another does.
  TrainResult train(Towers& towers, const Context& own, Progress& progress) const {
    auto generator = own.generator("split");
    const Split parts = split(rows_, fit_.held_out, generator);
    const TrainData data{parts.train, parts.train, parts.held_out, parts.held_out};
    const PairObjective objective(towers, reference_.get());
    const auto times = make_time_sampler(fit_.times);
    // A row twice in a batch would be told apart from itself.
    TrainOptions options = fit_.train;
    options.batch = std::min(options.batch, std::max<int64_t>(2, parts.train.rows()));
    Trainer trainer(objective, towers.parameters(), *times, data, options, own);
    return trainer.run(progress);
  }

  PairCriticOptions options_;
  FitOptions fit_;
  Context context_;
  Tensor blurred_x_, blurred_y_;  // until the reference is there
  Coordinates x_, y_;
  std::shared_ptr<const PairReference> reference_;
  int64_t dx_ = 0;
  Samples rows_;  // (u, v) side by side
};

}  // namespace

PairFit fit_pairs(const Tensor& x, const Tensor& y, const std::vector<std::string>& x_names,
                  const std::vector<std::string>& y_names, const PairCriticOptions& options,
                  const FitOptions& fit, Progress& progress) {
  validate(options);
  validate(fit);
  check(x.size(0) == y.size(0), "pairs need as many rows of x as of y, got ", x.size(0), " and ",
        y.size(0));
  if (!varies(x) || !varies(y)) return {std::make_shared<Independence>(), 0, false};
  return PairFitting(x, y, x_names, y_names, options, fit).run(progress);
}

}  // namespace dre
