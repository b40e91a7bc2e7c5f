/// Tables from numpy arrays: one npy file, or the arrays of an npz file side by side.
#pragma once

#include <memory>
#include <string>

#include "dre/data/npy_array.h"
#include "dre/data/reader.h"

namespace dre {

/// A vector [n] is a column x0, a matrix [n, d] is columns x0 to x{d-1}.
std::unique_ptr<TableReader> read_npy(NpySource source, const std::string& name,
                                      const ReadOptions& options);

/// One matrix [n, d] is columns x0 to x{d-1}; otherwise a vector is a column with the name of its
/// array and a matrix `a` is columns a0 to a{d-1}. All arrays must have the same number of rows.
std::unique_ptr<TableReader> open_npz(const std::string& path, const ReadOptions& options);

}  // namespace dre
