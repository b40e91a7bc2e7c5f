/// Small tables for tests of what is read as the two sides of a comparison.
#pragma once

#include "dre/apps/sides.h"
#include "dre/base/context.h"
#include "tests/data/files.h"

namespace dre::testing {

/// `rows` lines of `columns` numbers, different in every cell; `shift` is added to all.
inline std::string table(const std::string& header, int rows, int columns, double shift = 0) {
  std::string out = header + "\n";
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out += text(shift + i * columns + j, j + 1 < columns ? "," : "\n");
  return out;
}

/// `rows` lines of a normal number and a city: of `period` lines one has oslo, the others rome.
inline std::string towns(int rows, double mean, int period, at::Generator& generator) {
  const Tensor x = mean + normal({rows}, torch::kFloat64, generator);
  std::string out = "x,city\n";
  for (int i = 0; i < rows; ++i)
    out += text(x[i].item<double>(), i % period == 0 ? ",oslo\n" : ",rome\n");
  return out;
}

inline SidesOptions two_files(const Directory& directory, const std::string& numerator,
                              const std::string& denominator) {
  SidesOptions options;
  options.numerator = directory.write("a.csv", numerator);
  options.denominator = directory.write("b.csv", denominator);
  return options;
}

inline std::vector<std::string> codes(const Sides& sides) {
  std::vector<std::string> out;
  for (const auto& warning : sides.warnings) out.push_back(warning.code);
  return out;
}

}  // namespace dre::testing
