/// The rows of dre flow: MNIST, or a table of numbers.
#pragma once

#include <nlohmann/json.hpp>

#include "dre/train/flow_trainer.h"

namespace dre::cli {

/// Folder of the MNIST files: as given, else that of the environment, DRE_DATA/mnist; empty where
/// there is neither.
std::string mnist_folder(const std::string& given);

struct FlowSource {
  std::string data, input;

  void visit(OptionVisitor& v);

  /// The folder of the environment where neither is given; usage error unless it then is exactly
  /// one of the two.
  void settle();

  /// Single precision for images; double for a table, whose columns may be far from zero or of
  /// very different sizes.
  torch::ScalarType precision() const { return input.empty() ? torch::kFloat32 : torch::kFloat64; }
};

struct FlowRows {
  FlowData data;
  Tensor test;                 ///< rows for the figure that is reported
  std::string test_name;       ///< "test", or "held_out" where they choose the step as well
  nlohmann::json description;  ///< which data these are
};

/// MNIST by its usual split; of a table, `held_out` of the rows, drawn at random, are both the ones
/// to judge by and those of the reported figure.
FlowRows load_flow_rows(const FlowSource& source, double held_out, const Context& context);

/// Rows to evaluate: MNIST's test images, or all rows of a table. columns: those of the fit, found
/// by their names, or by their places where one of the tables has no names; empty where it does not
/// tell.
Tensor load_test_rows(const FlowSource& source, const std::vector<std::string>& columns);

/// The columns of the table that a density was fitted to, by its record; empty for images.
std::vector<std::string> fitted_columns(const nlohmann::json& record);

/// The first `count` rows, all for 0.
Tensor first_rows(const Tensor& rows, int64_t count);

/// Data error where rows of another size are given to a density; `path`: its file.
void check_size(const Density& density, const std::string& path, const Tensor& rows);

/// Mean bits per dimension with standard error, and mean log-density in nats.
nlohmann::json bits_json(const Tensor& bits, int64_t dimension);

std::string bits_text(const nlohmann::json& bits);

}  // namespace dre::cli
