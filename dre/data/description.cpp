#include "dre/data/description.h"

#include "dre/base/version.h"

namespace dre {

void save_described(const std::string& path, const FileKind& kind, nlohmann::json json,
                    const NamedTensors& tensors) {
  json["format"] = kind.format;
  json["format_version"] = kind.version;
  json["dre_version"] = version();
  json["torch_version"] = torch_version();
  save_safetensors(path, {tensors, {{"dre", json.dump()}}});
}

nlohmann::json read_description(const TensorFile& file, const std::string& path,
                                const FileKind& kind) {
  const auto found = file.metadata.find("dre");
  check_data(found != file.metadata.end(), path, " is not a dre ", kind.word,
             ": it has no dre metadata");
  const auto json = nlohmann::json::parse(found->second, nullptr, false);
  check_data(json.is_object() && json.contains("format") && json["format"] == kind.format, path,
             " is not a dre ", kind.word, ": its metadata cannot be read");
  const auto given = json.find("format_version");
  check_data(given != json.end() && given->is_number_integer(), path, " is a damaged dre ",
             kind.word, ": it does not say which format it has");
  check_data(*given >= 1 && *given <= kind.version, path, " has ", kind.word, " format ",
             given->dump(), ", but this program reads formats 1 to ", kind.version,
             "; use a newer dre");
  return json;
}

void refuse_damaged(const std::string& path, const FileKind& kind, const char* what) {
  fail(Error::Kind::data, path, " is a damaged dre ", kind.word, ": ", what);
}

}  // namespace dre
