#include "experiments/unfinished.h"

#include <filesystem>
#include <utility>

#include "dre/data/description.h"

namespace dre::experiments {
namespace {

const FileKind unfinished_kind{"dre-unfinished", "unfinished fit", 1};

}  // namespace

Unfinished::Unfinished(std::string path, Json plan)
    : path_(std::move(path)), plan_(std::move(plan)) {}

std::optional<Unfinished::State> Unfinished::load() const {
  if (!std::filesystem::exists(path_)) return std::nullopt;
  const TensorFile file = load_safetensors(path_);
  const Json json = read_description(file, path_, unfinished_kind);
  if (json.value("plan", Json()) != plan_) return std::nullopt;
  return State{file.tensors, json.value("history", Json())};
}

void Unfinished::save(const NamedTensors& tensors, const Json& history) const {
  save_described(path_, unfinished_kind, {{"plan", plan_}, {"history", history}}, tensors);
}

void Unfinished::remove() const {
  std::error_code ignored;  // the fit is done; a file that stays does no harm
  std::filesystem::remove(path_, ignored);
}

}  // namespace dre::experiments
