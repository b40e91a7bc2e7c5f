#include "dre/objective/time_weight.h"

#include <utility>

#include "dre/base/names.h"

namespace dre {
namespace {

Jet one(const Bridge&, const Tensor& t) {
  return {torch::ones_like(t), torch::zeros_like(t), torch::zeros_like(t)};
}

Jet parabola(const Bridge& bridge, const Tensor& t) {
  const auto [from, to] = bridge.interval();
  return {(t - from) * (to - t), from + to - 2 * t, torch::full_like(t, -2)};
}

Jet noise(const Bridge& bridge, const Tensor& t) {
  const Coefficients c = bridge.at(t);
  const Jet& a = c.a;
  return {1 - a.value * a.value + c.variance.value, -2 * a.value * a.first + c.variance.first,
          -2 * (a.first * a.first + a.value * a.second) + c.variance.second};
}

using Formula = Jet (*)(const Bridge&, const Tensor&);

const std::vector<Named<Formula>>& formulas() {
  static const std::vector<Named<Formula>> table = {
      {"one", one}, {"parabola", parabola}, {"noise", noise}};
  return table;
}

}  // namespace

TimeWeight::TimeWeight(const std::string& name, BridgePtr bridge)
    : formula_(choose("time weight", formulas(), name)), bridge_(std::move(bridge)) {}

Jet TimeWeight::at(const Tensor& t) const { return formula_(*bridge_, t); }

Names TimeWeight::names() { return names_of(formulas()); }

}  // namespace dre
