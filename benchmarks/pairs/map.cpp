#include "benchmarks/pairs/map.h"

#include <cmath>
#include <numbers>

#include "dre/base/error.h"

namespace dre::pairs {
namespace {

constexpr double pi = std::numbers::pi;

Tensor zeros_for(const Tensor& z) { return torch::zeros({z.size(0)}, z.options()); }

class Identity final : public Map {
 public:
  explicit Identity(int64_t dimension) : dimension_(dimension) {}
  int64_t inputs() const override { return dimension_; }
  int64_t outputs() const override { return dimension_; }
  Tensor forward(const Tensor& z) const override { return z; }
  Tensor inverse(const Tensor& x) const override { return x; }
  Tensor log_volume(const Tensor& z) const override { return zeros_for(z); }

 private:
  int64_t dimension_;
};

class Exponential final : public Map {
 public:
  explicit Exponential(int64_t dimension) : dimension_(dimension) {}
  int64_t inputs() const override { return dimension_; }
  int64_t outputs() const override { return dimension_; }
  Tensor forward(const Tensor& z) const override { return z.exp(); }
  Tensor inverse(const Tensor& x) const override { return x.log(); }
  Tensor log_volume(const Tensor& z) const override { return z.sum(1); }

 private:
  int64_t dimension_;
};

class Wave final : public Map {
 public:
  Wave(int64_t dimension, int64_t parity, double amplitude, double frequency)
      : dimension_(dimension), frequency_(frequency) {
    check(dimension % 2 == 0, "a wave needs an even dimension, got ", dimension);
    check(parity == 0 || parity == 1, "a wave's parity must be 0 or 1, got ", parity);
    moved_ = amplitude * torch::arange(dimension).remainder(2).eq(parity).to(torch::kFloat64);
  }
  int64_t inputs() const override { return dimension_; }
  int64_t outputs() const override { return dimension_; }
  Tensor forward(const Tensor& z) const override { return z + displacement(z); }
  Tensor inverse(const Tensor& x) const override { return x - displacement(x); }
  Tensor log_volume(const Tensor& z) const override { return zeros_for(z); }

 private:
  /// Depends only on the coordinates of the other parity, which stay where they are.
  Tensor displacement(const Tensor& x) const {
    return moved_ * (frequency_ * x.roll({1}, {1})).sin();
  }

  int64_t dimension_;
  double frequency_;
  Tensor moved_;
};

class Additive final : public Map {
 public:
  int64_t inputs() const override { return 2; }
  int64_t outputs() const override { return 2; }
  Tensor forward(const Tensor& z) const override {
    return torch::stack({z.select(1, 0), z.sum(1)}, 1);
  }
  Tensor inverse(const Tensor& x) const override {
    return torch::stack({x.select(1, 0), x.select(1, 1) - x.select(1, 0)}, 1);
  }
  Tensor log_volume(const Tensor& z) const override { return zeros_for(z); }
};

class Spiral final : public Map {
 public:
  Spiral(int64_t dimension, SpiralPlane plane, double speed)
      : dimension_(dimension), plane_(plane), speed_(speed) {
    check(plane.first != plane.second && plane.first < dimension && plane.second < dimension,
          "a spiral's plane needs two of ", dimension, " coordinates, got ", plane.first, " and ",
          plane.second);
  }
  int64_t inputs() const override { return dimension_; }
  int64_t outputs() const override { return dimension_; }
  Tensor forward(const Tensor& z) const override { return rotated(z, speed_); }
  Tensor inverse(const Tensor& x) const override { return rotated(x, -speed_); }

  /// J = R (I + 2 speed G x x') with a skew G, and det J = 1 + 2 speed x'Gx = 1.
  Tensor log_volume(const Tensor& z) const override { return zeros_for(z); }

 private:
  Tensor rotated(const Tensor& x, double speed) const {
    const Tensor angle = speed * x.square().sum(1);
    const Tensor cosine = angle.cos(), sine = angle.sin();
    const Tensor u = x.select(1, plane_.first), v = x.select(1, plane_.second);
    std::vector<Tensor> columns = x.unbind(1);
    columns[plane_.first] = cosine * u - sine * v;
    columns[plane_.second] = sine * u + cosine * v;
    return torch::stack(columns, 1);
  }

  int64_t dimension_;
  SpiralPlane plane_;
  double speed_;
};

class SwissRoll final : public Map {
 public:
  int64_t inputs() const override { return 1; }
  int64_t outputs() const override { return 2; }
  Tensor forward(const Tensor& z) const override {
    const Tensor a = angle(z);
    return torch::cat({a * a.cos(), a * a.sin()}, 1) / radius;
  }
  Tensor inverse(const Tensor& x) const override {
    const Tensor a = radius * x.square().sum(1, /*keepdim=*/true).sqrt();
    return at::special_ndtri((a / (1.5 * pi) - 1) / 2);
  }
  Tensor log_volume(const Tensor& z) const override {
    const Tensor speed = (1 + angle(z).square()).sqrt() / radius;
    const Tensor log_slope = std::log(3 * pi) - 0.5 * z.square() - 0.5 * std::log(2 * pi);
    return (speed.log() + log_slope).squeeze(1);
  }

 private:
  static Tensor angle(const Tensor& z) { return 1.5 * pi * (1 + 2 * at::special_ndtr(z)); }
  static constexpr double radius = 21;
};

class Beside final : public Map {
 public:
  explicit Beside(std::vector<MapPtr> maps) : maps_(std::move(maps)) {
    for (const auto& map : maps_) {
      input_sizes_.push_back(map->inputs());
      output_sizes_.push_back(map->outputs());
      inputs_ += map->inputs();
      outputs_ += map->outputs();
    }
  }
  int64_t inputs() const override { return inputs_; }
  int64_t outputs() const override { return outputs_; }

  Tensor forward(const Tensor& z) const override {
    std::vector<Tensor> blocks = z.split_with_sizes(input_sizes_, 1);
    for (size_t i = 0; i < maps_.size(); ++i) blocks[i] = maps_[i]->forward(blocks[i]);
    return torch::cat(blocks, 1);
  }
  Tensor inverse(const Tensor& x) const override {
    std::vector<Tensor> blocks = x.split_with_sizes(output_sizes_, 1);
    for (size_t i = 0; i < maps_.size(); ++i) blocks[i] = maps_[i]->inverse(blocks[i]);
    return torch::cat(blocks, 1);
  }
  Tensor log_volume(const Tensor& z) const override {
    const std::vector<Tensor> blocks = z.split_with_sizes(input_sizes_, 1);
    Tensor total = zeros_for(z);
    for (size_t i = 0; i < maps_.size(); ++i) total = total + maps_[i]->log_volume(blocks[i]);
    return total;
  }

 private:
  std::vector<MapPtr> maps_;
  std::vector<int64_t> input_sizes_, output_sizes_;
  int64_t inputs_ = 0, outputs_ = 0;
};

class Composed final : public Map {
 public:
  explicit Composed(std::vector<MapPtr> maps) : maps_(std::move(maps)) {
    check(!maps_.empty(), "a composed map needs at least one map");
    for (size_t i = 1; i < maps_.size(); ++i)
      check(maps_[i - 1]->outputs() == maps_[i]->inputs(), "map ", i, " takes ", maps_[i]->inputs(),
            " coordinates, but the one before gives ", maps_[i - 1]->outputs());
  }
  int64_t inputs() const override { return maps_.front()->inputs(); }
  int64_t outputs() const override { return maps_.back()->outputs(); }

  Tensor forward(const Tensor& z) const override {
    Tensor x = z;
    for (const auto& map : maps_) x = map->forward(x);
    return x;
  }
  Tensor inverse(const Tensor& x) const override {
    Tensor z = x;
    for (auto map = maps_.rbegin(); map != maps_.rend(); ++map) z = (*map)->inverse(z);
    return z;
  }
  Tensor log_volume(const Tensor& z) const override {
    Tensor x = z, total = zeros_for(z);
    for (const auto& map : maps_) {
      total = total + map->log_volume(x);
      x = map->forward(x);
    }
    return total;
  }

 private:
  std::vector<MapPtr> maps_;
};

}  // namespace

MapPtr identity(int64_t dimension) { return std::make_shared<Identity>(dimension); }

MapPtr exponential(int64_t dimension) { return std::make_shared<Exponential>(dimension); }

MapPtr wave(int64_t dimension, int64_t parity, double amplitude, double frequency) {
  return std::make_shared<Wave>(dimension, parity, amplitude, frequency);
}

MapPtr waves(int64_t dimension, int64_t layers, double amplitude, double frequency) {
  std::vector<MapPtr> maps;
  for (int64_t i = 0; i < layers; ++i)
    maps.push_back(wave(dimension, (i + 1) % 2, amplitude, frequency));
  return composed(std::move(maps));
}

MapPtr additive() { return std::make_shared<Additive>(); }

MapPtr spiral(int64_t dimension, SpiralPlane plane, double speed) {
  return std::make_shared<Spiral>(dimension, plane, speed);
}

MapPtr swiss_roll() { return std::make_shared<SwissRoll>(); }

MapPtr beside(std::vector<MapPtr> maps) { return std::make_shared<Beside>(std::move(maps)); }

MapPtr composed(std::vector<MapPtr> maps) { return std::make_shared<Composed>(std::move(maps)); }

}  // namespace dre::pairs
