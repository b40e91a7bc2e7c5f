/// What our safetensors files say about themselves: one metadata entry "dre", a JSON object with
/// format and version, checked when read.
#pragma once

#include <c10/util/Exception.h>

#include <nlohmann/json.hpp>
#include <string>

#include "dre/base/error.h"
#include "dre/base/named_tensors.h"
#include "dre/data/safetensors.h"

namespace dre {

struct FileKind {
  const char* format;  ///< "dre-model"
  const char* word;    ///< what messages call it: "model"
  int version;         ///< the newest that is read, and the one that is written
};

/// Adds format, versions of format, library and LibTorch, and a checksum of all to `json`.
/// Written aside and renamed.
void save_described(const std::string& path, const FileKind& kind, nlohmann::json json,
                    const NamedTensors& tensors);

/// The file's description; a data error where it is of another kind or a newer version, or where it
/// does not have its checksum.
nlohmann::json read_description(const TensorFile& file, const std::string& path,
                                const FileKind& kind);

/// The description of a file of ours, whatever its kind; a data error where there is none.
nlohmann::json read_any_description(const TensorFile& file, const std::string& path);

/// Throws a data error: the file is of the right kind, but `what` is wrong with it.
[[noreturn]] void refuse_damaged(const std::string& path, const FileKind& kind, const char* what);

/// Error where a tensor holds numbers that are not finite.
void check_finite(const NamedTensors& tensors);

/// What `build` makes of a file; every error on the way says that the file is damaged.
template <class Build>
auto guard_damage(const std::string& path, const FileKind& kind, Build build) {
  try {
    return build();
  } catch (const nlohmann::json::exception& error) {
    refuse_damaged(path, kind, error.what());
  } catch (const Error& error) {
    refuse_damaged(path, kind, error.what());
  } catch (const c10::Error& error) {
    refuse_damaged(path, kind, error.what_without_backtrace());
  }
}

}  // namespace dre
