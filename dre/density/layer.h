/// Layers of a flow: invertible maps with trained parameters, and their composition.
#pragma once

#include <memory>
#include <vector>

#include "dre/density/density.h"
#include "dre/network/parameters.h"

namespace dre {

class Layer {
 public:
  virtual ~Layer() = default;

  /// y and log |det dy/dx| of each row. x: [n, ...] -> [n, ...], [n]
  virtual Moved forward(const Tensor& x) const = 0;
  virtual Moved inverse(const Tensor& y) const = 0;

  /// Sets the parameters to a good start for data like x; most layers have one already.
  virtual void initialise(const Tensor& /*x*/) {}
};

/// Layers one after the other.
class Sequence final : public Layer {
 public:
  void add(std::unique_ptr<Layer> layer) { layers_.push_back(std::move(layer)); }

  Moved forward(const Tensor& x) const override;
  Moved inverse(const Tensor& y) const override;

  /// Each layer is initialised by what those before it make of x.
  void initialise(const Tensor& x) override;

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

/// The same value for every row: [] -> [n]
inline Tensor for_rows(const Tensor& value, const Tensor& x) { return value.expand({x.size(0)}); }

}  // namespace dre
