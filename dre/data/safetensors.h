/// Named tensors and texts in one file of the safetensors format: a length, a JSON header, the
/// bytes. Loading runs no code from the file and believes nothing in it unchecked.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dre/data/table.h"

namespace dre {

struct TensorFile {
  std::vector<std::pair<std::string, Tensor>> tensors;  ///< sorted by name when loaded
  std::map<std::string, std::string> metadata;
};

/// F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL. Equal content gives equal bytes, whatever the
/// order of the tensors.
void save_safetensors(const std::string& path, const TensorFile& content);

/// Tensors on the CPU; a damaged, truncated or foreign file is a data error.
TensorFile load_safetensors(const std::string& path);

}  // namespace dre
