/// Tensors with names: the state of anything that can be saved.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

namespace dre {

using torch::Tensor;

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

/// Appends `more` to `all` under "prefix.".
void append(NamedTensors& all, const std::string& prefix, const NamedTensors& more);

/// Those whose name starts with "prefix.", without it.
NamedTensors under(const NamedTensors& all, const std::string& prefix);

/// The tensor called `name`; a data error where there is none.
const torch::Tensor& at(const NamedTensors& all, const std::string& name);

}  // namespace dre
