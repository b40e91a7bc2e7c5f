#include "dre/data/column_map.h"

#include <ATen/core/grad_mode.h>

#include <cmath>

#include "dre/base/error.h"

namespace dre {
namespace {

struct Scale {
  double centre, spread;
};

/// Pooled mean and standard deviation; spread 1 where the column is constant.
Scale standard_scale(const Tensor& x, const Tensor& weight) {
  // Against the first value: 1e9 + small must not lose the small part in the sum.
  const double first = x[0].item<double>();
  const double centre = first + at::dot(weight, x - first).item<double>();
  const Tensor rest = x - centre;
  const double largest = rest.abs().max().item<double>();
  if (largest == 0) return {centre, 1};
  const double relative = std::sqrt(at::dot(weight, (rest / largest).square()).item<double>());
  return {centre, relative * largest};
}

double entry(const Tensor& values, int64_t index) { return values[index].item<double>(); }

Tensor numbers(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), torch::kFloat64);
}

class ZScore final : public ColumnMap {
 public:
  explicit ZScore(Scale scale) : scale_(scale) {}

  Tensor forward(const Tensor& x) const override { return (x - scale_.centre) / scale_.spread; }
  Tensor inverse(const Tensor& z) const override { return z * scale_.spread + scale_.centre; }
  Tensor parameters() const override { return numbers({scale_.centre, scale_.spread}); }

  static ColumnMapPtr fit(const PooledColumn& column) {
    return std::make_shared<ZScore>(standard_scale(column.x, column.weight));
  }
  static ColumnMapPtr load(const Tensor& p) {
    check_data(p.numel() == 2, "a zscore column has 2 parameters, got ", p.numel());
    return std::make_shared<ZScore>(Scale{entry(p, 0), entry(p, 1)});
  }

 private:
  Scale scale_;
};

/// Straight lines through (from, to), both ascending; q within the ends of `from`.
Tensor interpolate(const Tensor& from, const Tensor& to, const Tensor& q) {
  const Tensor right =
      at::searchsorted(from, q, /*out_int32=*/false, /*right=*/true).clamp_(1, from.size(0) - 1);
  const Tensor left = right - 1;
  const Tensor start = from.index_select(0, left);
  const Tensor share = (q - start) / (from.index_select(0, right) - start);
  return at::lerp(to.index_select(0, left), to.index_select(0, right), share);
}

double quantile(const Levels& pooled, double level) {
  if (pooled.value.size(0) == 1) return entry(pooled.value, 0);
  const Tensor inside = numbers({level}).clamp(entry(pooled.level, 0), entry(pooled.level, -1));
  return interpolate(pooled.level, pooled.value, inside).item<double>();
}

class Asinh final : public ColumnMap {
 public:
  Asinh(Scale raw, Scale bent) : raw_(raw), bent_(bent) {}

  Tensor forward(const Tensor& x) const override {
    return (at::asinh((x - raw_.centre) / raw_.spread) - bent_.centre) / bent_.spread;
  }
  Tensor inverse(const Tensor& z) const override {
    return at::sinh(z * bent_.spread + bent_.centre) * raw_.spread + raw_.centre;
  }
  Tensor parameters() const override {
    return numbers({raw_.centre, raw_.spread, bent_.centre, bent_.spread});
  }

  static ColumnMapPtr fit(const PooledColumn& column) {
    const Levels pooled = levels(column);
    const double normal_range = 1.3489795003921634;  // between the quartiles of N(0,1)
    Scale raw{quantile(pooled, 0.5), 0};
    raw.spread = (quantile(pooled, 0.75) - quantile(pooled, 0.25)) / normal_range;
    // More than half of the mass at one value: the quartiles say nothing about the scale.
    const double standard = standard_scale(column.x, column.weight).spread;
    if (raw.spread <= 1e-6 * standard) raw.spread = standard;
    const Tensor bent = at::asinh((column.x - raw.centre) / raw.spread);
    return std::make_shared<Asinh>(raw, standard_scale(bent, column.weight));
  }
  static ColumnMapPtr load(const Tensor& p) {
    check_data(p.numel() == 4, "an asinh column has 4 parameters, got ", p.numel());
    return std::make_shared<Asinh>(Scale{entry(p, 0), entry(p, 1)},
                                   Scale{entry(p, 2), entry(p, 3)});
  }

 private:
  Scale raw_, bent_;
};

constexpr int64_t most_knots = 2001;
constexpr double tail_reach = 2;     // how far z can get beyond the outer knots
constexpr double tail_window = 0.5;  // the part of z that decides the slope of a tail

/// u/(1 + u/2) and its inverse, in forms that are exact at 0 and at infinity.
Tensor bend(const Tensor& u) { return tail_reach / (1 + tail_reach / u); }
Tensor unbend(const Tensor& v) {
  const Tensor bounded = v.clamp(0, tail_reach);
  return tail_reach * bounded / (tail_reach - bounded);
}

class Rank final : public ColumnMap {
 public:
  Rank(Tensor value, Tensor z) : value_(std::move(value)), z_(std::move(z)) {
    const int64_t last = value_.size(0) - 1;
    low_ = {entry(value_, 0), entry(z_, 0)};
    high_ = {entry(value_, last), entry(z_, last)};
    const Tensor edges = numbers({low_.z + tail_window, high_.z - tail_window});
    const Tensor inner = at::searchsorted(z_, edges).clamp(0, last);
    low_.slope = slope(0, std::max<int64_t>(inner[0].item<int64_t>(), 1));
    high_.slope = slope(std::min(inner[1].item<int64_t>(), last - 1), last);
  }

  Tensor forward(const Tensor& x) const override {
    const Tensor inside =
        interpolate(value_.to(x.device()), z_.to(x.device()), x.clamp(low_.value, high_.value));
    const Tensor above = (x - high_.value).clamp_min_(0).mul_(high_.slope);
    const Tensor below = (low_.value - x).clamp_min_(0).mul_(low_.slope);
    return inside + bend(above) - bend(below);
  }

  Tensor inverse(const Tensor& z) const override {
    const Tensor inside =
        interpolate(z_.to(z.device()), value_.to(z.device()), z.clamp(low_.z, high_.z));
    return inside + unbend(z - high_.z) / high_.slope - unbend(low_.z - z) / low_.slope;
  }

  Tensor parameters() const override { return torch::cat({value_, z_}); }

  static ColumnMapPtr fit(const PooledColumn& column);

  static ColumnMapPtr load(const Tensor& p) {
    const int64_t knots = p.numel() / 2;
    check_data(p.numel() % 2 == 0 && knots >= 2,
               "a rank column has two or more knots of 2 numbers, got ", p.numel(), " numbers");
    const Tensor both = p.reshape({2, knots}).contiguous();
    check_data((both.diff() > 0).all().item<bool>(),
               "the knots of a rank column must ascend; the file is damaged");
    return std::make_shared<Rank>(both[0].clone(), both[1].clone());
  }

 private:
  struct End {
    double value, z, slope = 0;
  };

  double slope(int64_t from, int64_t to) const {
    const double run = entry(value_, to) - entry(value_, from);
    return std::min((entry(z_, to) - entry(z_, from)) / run, 1e300);
  }

  Tensor value_, z_;  ///< the knots: [m] each, both strictly ascending
  End low_, high_;
};

/// Which of the ascending z become knots: about equally spaced in z, so that the tails are resolved
/// like the middle, none closer than a quarter of the spacing, and both ends.
std::vector<int64_t> knot_places(const Tensor& z) {
  const int64_t last = z.size(0) - 1;
  const double low = entry(z, 0), high = entry(z, last);
  const double spacing = (high - low) / (most_knots - 1);
  const Tensor grid = torch::linspace(low, high, most_knots, torch::kFloat64);
  const Tensor candidates = at::searchsorted(z, grid).clamp_max(last);
  const Tensor heights = z.index_select(0, candidates);
  const auto place = candidates.accessor<int64_t, 1>();
  const auto height = heights.accessor<double, 1>();
  std::vector<int64_t> places = {0};
  double previous = low;
  for (int64_t i = 0; i < most_knots; ++i) {
    if (height[i] - previous < spacing / 4) continue;
    places.push_back(place[i]);
    previous = height[i];
  }
  if (places.size() == 1) places.push_back(last);
  places.back() = last;
  return places;
}

ColumnMapPtr Rank::fit(const PooledColumn& column) {
  const Levels pooled = levels(column);
  check_data(pooled.value.size(0) >= 2, "a column with one value cannot be ranked; drop it");
  // Rows of almost no weight would stand infinitely far out; 1e-9 is 6 standard deviations.
  const Tensor z = at::special_ndtri(pooled.level.clamp(1e-9, 1 - 1e-9));
  const Tensor places = torch::tensor(knot_places(z), torch::kInt64);
  return std::make_shared<Rank>(pooled.value.index_select(0, places), z.index_select(0, places));
}

}  // namespace

Levels levels(const PooledColumn& column) {
  const auto [sorted, order] = column.x.sort();
  const auto [value, group, count] = at::unique_consecutive(sorted, /*return_inverse=*/true);
  const Tensor mass =
      torch::zeros_like(value).index_add_(0, group, column.weight.index_select(0, order));
  const Tensor below = mass.cumsum(0) - mass;
  return {value, (below + mass / 2) / mass.sum()};
}

const std::vector<Named<ColumnMapMaker>>& column_maps() {
  static const std::vector<Named<ColumnMapMaker>> table = {
      {"zscore", {ZScore::fit, ZScore::load}},
      {"rank", {Rank::fit, Rank::load}},
      {"asinh", {Asinh::fit, Asinh::load}},
  };
  return table;
}

}  // namespace dre
