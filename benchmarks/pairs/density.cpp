#include "benchmarks/pairs/density.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "dre/base/context.h"
#include "dre/base/error.h"

namespace dre::pairs {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// x = location + factor z for a lower triangular factor.
class Affine final {
 public:
  Affine(const Tensor& location, const Tensor& squared_scale) : location_(location) {
    const int64_t d = location.size(0);
    check(squared_scale.dim() == 2 && squared_scale.size(0) == d && squared_scale.size(1) == d,
          "a scale matrix must be [", d, ", ", d, "], got ", squared_scale.sizes());
    factor_ = at::linalg_cholesky(squared_scale);
    log_volume_ = factor_.diagonal().log().sum();
  }

  int64_t dimension() const { return location_.size(0); }
  Tensor forward(const Tensor& z) const { return location_ + z.matmul(factor_.t()); }
  Tensor inverse(const Tensor& x) const {
    return at::linalg_solve_triangular(factor_, (x - location_).t(), /*upper=*/false).t();
  }
  const Tensor& log_volume() const { return log_volume_; }

 private:
  Tensor location_, factor_, log_volume_;
};

class Gaussian final : public Density {
 public:
  Gaussian(const Tensor& mean, const Tensor& covariance) : map_(mean, covariance) {}

  int64_t dimension() const override { return map_.dimension(); }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    return map_.forward(normal({n, dimension()}, torch::kFloat64, generator));
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, dimension());
    const double constant = 0.5 * dimension() * std::log(2 * std::numbers::pi);
    return -0.5 * map_.inverse(x).square().sum(1) - map_.log_volume() - constant;
  }

 private:
  Affine map_;
};

class Student final : public Density {
 public:
  Student(int64_t degrees, const Tensor& location, const Tensor& scale)
      : degrees_(degrees), map_(location, scale) {
    check(degrees > 0, "the degrees of freedom must be at least 1, got ", degrees);
  }

  int64_t dimension() const override { return map_.dimension(); }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    const Tensor z = normal({n, dimension()}, torch::kFloat64, generator);
    const Tensor squares = normal({n, degrees_}, torch::kFloat64, generator).square();
    return map_.forward(z / squares.mean(1, /*keepdim=*/true).sqrt());
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, dimension());
    const double nu = static_cast<double>(degrees_), d = static_cast<double>(dimension());
    const double constant =
        std::lgamma((nu + d) / 2) - std::lgamma(nu / 2) - 0.5 * d * std::log(nu * std::numbers::pi);
    const Tensor tail = (map_.inverse(x).square().sum(1) / nu).log1p();
    return constant - map_.log_volume() - 0.5 * (nu + d) * tail;
  }

 private:
  int64_t degrees_;
  Affine map_;
};

class UniformInterval final : public Density {
 public:
  UniformInterval(double low, double high) : low_(low), high_(high) {
    check(low < high, "an interval must have low < high, got ", low, " and ", high);
  }

  int64_t dimension() const override { return 1; }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    return low_ + (high_ - low_) * uniform({n, 1}, torch::kFloat64, generator);
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, 1);
    const Tensor inside = (x.ge(low_) & x.le(high_)).squeeze(1);
    const Tensor value = torch::full({x.size(0)}, -std::log(high_ - low_), torch::kFloat64);
    return value.masked_fill(inside.logical_not(), -infinity);
  }

 private:
  double low_, high_;
};

/// U + W with a symmetric W, whose density is F(y) - F(y - 1) for the distribution function F of W.
class UniformPlus final : public Density {
 public:
  using Function = std::function<Tensor(const Tensor&)>;

  UniformPlus(DensityPtr noise, Function distribution)
      : noise_(std::move(noise)), distribution_(std::move(distribution)) {}

  int64_t dimension() const override { return 1; }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    return uniform({n, 1}, torch::kFloat64, generator) + noise_->sample(n, generator);
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, 1);
    // The density is symmetric about 1/2; in the left half the difference does not cancel.
    const Tensor left = at::minimum(x, 1 - x).squeeze(1);
    return (distribution_(left) - distribution_(left - 1)).log();
  }

 private:
  DensityPtr noise_;
  Function distribution_;
};

class Point final : public Density {
 public:
  explicit Point(const Tensor& place) : place_(place) {}

  int64_t dimension() const override { return place_.size(0); }

  Tensor sample(int64_t n, at::Generator&) const override { return place_.repeat({n, 1}); }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, dimension());
    return x.eq(place_).all(1).to(torch::kFloat64).log();
  }

 private:
  Tensor place_;
};

class Poisson final : public Density {
 public:
  explicit Poisson(double mean) : mean_(mean) {
    check(mean > 0, "a Poisson distribution needs a positive mean, got ", mean);
  }

  int64_t dimension() const override { return 1; }

  Tensor sample(int64_t n, at::Generator& generator) const override {
    return at::poisson(torch::full({n, 1}, mean_, torch::kFloat64), generator);
  }

  Tensor log_prob(const Tensor& x) const override {
    check_rows(x, 1);
    const Tensor count = x.squeeze(1);
    const Tensor value = count * std::log(mean_) - mean_ - (count + 1).lgamma();
    return value.masked_fill(count.lt(0).logical_or(count.ne(count.floor())), -infinity);
  }

 private:
  double mean_;
};

}  // namespace

void check_rows(const Tensor& x, int64_t dimension) {
  check(x.dim() == 2 && x.size(1) == dimension && x.scalar_type() == torch::kFloat64,
        "rows must be [n, ", dimension, "] in float64, got ", x.sizes(), " in ", x.dtype());
}

DensityPtr gaussian(const Tensor& mean, const Tensor& covariance) {
  return std::make_shared<Gaussian>(mean, covariance);
}

DensityPtr student(int64_t degrees, const Tensor& location, const Tensor& scale) {
  return std::make_shared<Student>(degrees, location, scale);
}

DensityPtr uniform_interval(double low, double high) {
  return std::make_shared<UniformInterval>(low, high);
}

DensityPtr uniform_plus_uniform(double width) {
  return std::make_shared<UniformPlus>(uniform_interval(-width, width), [width](const Tensor& w) {
    return ((w + width) / (2 * width)).clamp(0, 1);
  });
}

DensityPtr uniform_plus_gaussian(double deviation) {
  const Tensor mean = torch::zeros({1}, torch::kFloat64);
  const Tensor variance = torch::full({1, 1}, deviation * deviation, torch::kFloat64);
  return std::make_shared<UniformPlus>(gaussian(mean, variance), [deviation](const Tensor& w) {
    return 0.5 * at::erfc(-w / (deviation * std::numbers::sqrt2));
  });
}

DensityPtr point(const Tensor& place) { return std::make_shared<Point>(place); }

DensityPtr poisson(double mean) { return std::make_shared<Poisson>(mean); }

}  // namespace dre::pairs
