/// The files behind the two sides, read into typed columns; options that contradict themselves and
/// files that do not fit together are refused.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dre/apps/side_options.h"
#include "dre/data/copies.h"
#include "dre/data/frame.h"

namespace dre {

/// One side before its columns are encoded.
struct RawSide {
  std::string what;  ///< "numerator"
  std::string file;
  Frame frame;                        ///< without the weight and domain columns
  Tensor weight;                      ///< [n]; undefined: all ones
  std::optional<Copies> copies = {};  ///< where rows of the file are taken as one row of the frame

  /// Where a row of the frame stands in the file.
  Place place(int64_t row, const std::string& column) const;
};

struct RawSides {
  RawSide numerator, denominator;
  std::vector<std::string> names;
  nlohmann::json description;
};

/// Usage error where `options` contradict themselves.
void check_options(const SidesOptions& options);

/// Columns in the order of the numerator's file. seed: of a sample of the rows, where they are too
/// many.
RawSides read_sides(const SidesOptions& options, int64_t seed);

}  // namespace dre
