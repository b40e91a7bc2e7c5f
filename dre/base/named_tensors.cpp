#include "dre/base/named_tensors.h"

#include "dre/base/error.h"

namespace dre {

void append(NamedTensors& all, const std::string& prefix, const NamedTensors& more) {
  for (const auto& [name, tensor] : more) all.emplace_back(prefix + "." + name, tensor);
}

NamedTensors under(const NamedTensors& all, const std::string& prefix) {
  const std::string start = prefix + ".";
  NamedTensors found;
  for (const auto& [name, tensor] : all)
    if (name.compare(0, start.size(), start) == 0)
      found.emplace_back(name.substr(start.size()), tensor);
  return found;
}

const torch::Tensor& at(const NamedTensors& all, const std::string& name) {
  for (const auto& [key, tensor] : all)
    if (key == name) return tensor;
  fail(Error::Kind::data, "the file lacks the tensor '", name,
       "'; it was written by another program or version");
}

}  // namespace dre
