#include "dre/data/description.h"

#include <algorithm>

#include "dre/base/version.h"
#include "dre/data/checksum.h"

namespace dre {
namespace {

/// Who writes a format, for messages.
std::string written_by(const std::string& format) {
  if (format == "dre-model") return ", which 'dre fit' writes";
  if (format == "dre-density") return ", which 'dre flow fit' writes";
  if (format == "dre-energy") return ", which 'dre ebm fit' writes";
  return "";
}

nlohmann::json description_of(const TensorFile& file, const std::string& path, const char* word) {
  const auto found = file.metadata.find("dre");
  check_data(found != file.metadata.end(), path, " is not a dre ", word,
             ": it has no dre metadata");
  const auto json = nlohmann::json::parse(found->second, nullptr, false);
  check_data(json.is_object() && json.contains("format") && json["format"].is_string(), path,
             " is not a dre ", word, ": its metadata cannot be read");
  return json;
}

/// Of what a file says about itself and of its tensors, in the order of their names.
std::string checksum_of(nlohmann::json json, NamedTensors tensors) {
  json.erase("checksum");
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  Checksum checksum;
  const auto add = [&](const std::string& text) { checksum.add(text.data(), text.size()); };
  add(json.dump());
  for (const auto& [name, tensor] : tensors) {
    add(text(name, " ", tensor.scalar_type(), tensor.sizes()));
    checksum.add(tensor);
  }
  return checksum.hex();
}

}  // namespace

void save_described(const std::string& path, const FileKind& kind, nlohmann::json json,
                    const NamedTensors& tensors) {
  json["format"] = kind.format;
  json["format_version"] = kind.version;
  json["dre_version"] = version();
  json["torch_version"] = torch_version();
  json["checksum"] = checksum_of(json, tensors);
  save_safetensors(path, {tensors, {{"dre", json.dump()}}});
}

nlohmann::json read_any_description(const TensorFile& file, const std::string& path) {
  return description_of(file, path, "file");
}

nlohmann::json read_description(const TensorFile& file, const std::string& path,
                                const FileKind& kind) {
  const nlohmann::json json = description_of(file, path, kind.word);
  const std::string format = json["format"];
  check_data(format == kind.format, path, " is not a dre ", kind.word, ", but of the format ",
             format, written_by(format));
  const auto given = json.find("format_version");
  check_data(given != json.end() && given->is_number_integer(), path, " is a damaged dre ",
             kind.word, ": it does not say which format it has");
  check_data(*given >= 1 && *given <= kind.version, path, " has ", kind.word, " format ",
             given->dump(), ", but this program reads formats 1 to ", kind.version,
             "; use a newer dre");
  // Files of earlier versions do not have one.
  if (json.contains("checksum") && json["checksum"] != checksum_of(json, file.tensors))
    refuse_damaged(path, kind, "it is not what was written");
  return json;
}

void refuse_damaged(const std::string& path, const FileKind& kind, const char* what) {
  fail(Error::Kind::data, path, " is a damaged dre ", kind.word, ": ", what);
}

void check_finite(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors)
    check(!tensor.is_floating_point() || at::isfinite(tensor).all().item<bool>(), "the tensor '",
          name, "' holds numbers that are not finite");
}

}  // namespace dre
