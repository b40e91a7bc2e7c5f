#include "dre/network/parameters.h"

#include <algorithm>

#include "dre/base/error.h"

namespace dre {
namespace {

const Tensor* find(const NamedTensors& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

}  // namespace

Tensor Parameters::add(const std::string& name, const Tensor& initial) {
  check(!flat_.defined(), "parameter '", name, "' was added after flatten()");
  check(find(leaves_, name) == nullptr, "there are two parameters called '", name, "'");
  check(leaves_.empty() || (leaves_[0].second.dtype() == initial.dtype() &&
                            leaves_[0].second.device() == initial.device()),
        "parameter '", name, "' differs in device or precision from '",
        leaves_.empty() ? "" : leaves_[0].first, "'");
  Tensor leaf = initial.detach().clone(at::MemoryFormat::Contiguous);
  leaf.requires_grad_();
  leaves_.emplace_back(name, leaf);
  return leaf;
}

void Parameters::flatten() {
  if (flat_.defined()) return;
  check(!leaves_.empty(), "there are no parameters to flatten");
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> pieces;
  for (const auto& [name, leaf] : leaves_) pieces.push_back(leaf.detach().reshape(-1));
  flat_ = at::cat(pieces);
  gradient_ = at::zeros_like(flat_);
  int64_t start = 0;
  for (auto& [name, leaf] : leaves_) {
    const int64_t size = leaf.numel();
    leaf.set_data(flat_.narrow(0, start, size).view(leaf.sizes()));
    leaf.mutable_grad() = gradient_.narrow(0, start, size).view(leaf.sizes());
    start += size;
  }
}

Tensor Parameters::flat() const {
  check(flat_.defined(), "flat() was called before flatten()");
  return flat_;
}

Tensor Parameters::flat_gradient() const {
  check(gradient_.defined(), "flat_gradient() was called before flatten()");
  return gradient_;
}

void Parameters::zero_gradient() { flat_gradient().zero_(); }

int64_t Parameters::count() const {
  int64_t count = 0;
  for (const auto& [name, leaf] : leaves_) count += leaf.numel();
  return count;
}

void Parameters::load(const NamedTensors& values) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, value] : values)
    check_data(find(leaves_, name) != nullptr, "the network has no parameter '", name,
               "'; the values belong to another network");
  for (const auto& [name, leaf] : leaves_) {
    const Tensor* value = find(values, name);
    check_data(value != nullptr, "there is no value for parameter '", name, "'");
    check_data(value->sizes() == leaf.sizes(), "parameter '", name, "' has shape ", leaf.sizes(),
               ", but the value given has ", value->sizes());
  }
  for (auto& [name, leaf] : leaves_) leaf.copy_(*find(values, name));
}

void Parameters::restore(const Tensor& weights) {
  const torch::NoGradGuard no_grad;
  check_data(weights.sizes() == flat().sizes(), "the checkpoint is of a network of ",
             weights.numel(), " weights, and this one has ", count(),
             ": it was left by other settings or another version; start anew, without it");
  flat().copy_(weights);
}

}  // namespace dre
