#include "dre/apps/fit_sides.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dre/apps/rate_table.h"
#include "dre/ratio/model_file.h"
#include "tests/apps/numeric_sides.h"
#include "tests/apps/side_tables.h"
#include "tests/support/stop_after.h"

namespace dre::testing {
namespace {

Sides town_sides(const Directory& directory) {
  auto generator = stream("town sides");
  const std::string a = towns(300, 0.5, 4, generator), b = towns(300, 0, 2, generator);
  return load_sides(two_files(directory, a, b));
}

/// Far enough apart for diagnostics to warn.
Sides far_squares() {
  auto generator = stream("far squares");
  const Tensor a = uniform({300, 2}, torch::kFloat64, generator);
  const Tensor b = uniform({300, 2}, torch::kFloat64, generator);
  a.select(1, 0).add_(0.5);
  return numeric_sides(a, b);
}

FitSidesResult fitted(const Sides& sides, const FitOptions& options) {
  Progress silent;
  return fit_sides(sides, options, silent);
}

Strings codes_of(const std::vector<Warning>& warnings) {
  Strings out;
  for (const auto& warning : warnings) out.push_back(warning.code);
  return out;
}

TEST(FitSides, ASavedModelRatesRowsAsTheyCome) {
  const Directory directory;
  const Sides sides = town_sides(directory);
  const FitSidesResult result = fitted(sides, reference_alone(3));
  save_model(directory.path("m.safetensors"), result.fit.estimator);
  const Estimator loaded = load_model(directory.path("m.safetensors"));
  EXPECT_EQ(loaded.encoding.raw_names(), (Strings{"x", "city"}));
  const auto reader = open_table(directory.path("a.csv"), read_options_for(loaded));
  const auto writer = open_writer(directory.path("out.csv"), rated_columns(loaded));
  Progress silent;
  EXPECT_EQ(rate_table(*reader, *writer, loaded, "a.csv", {}, silent).rows, 300);
  const Tensor found = read_table(directory.path("out.csv")).values.select(1, 0);
  const Tensor expected = result.fit.estimator.log_ratio(sides.numerator.x).log_ratio;
  EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-5));
  // Where x is equal, rome (3 rows of 4 against 2 of 4) is likelier than oslo by log 3.
  const Tensor cities = torch::tensor({{0.0, 0.0}, {0.0, 1.0}}, torch::kFloat64);
  const Tensor both = loaded.log_ratio(cities).log_ratio;
  ASSERT_EQ(loaded.names(), (Strings{"x", "city = oslo"}));
  EXPECT_NEAR((both[0] - both[1]).item<double>(), std::log(3), 0.5);
}

TEST(FitSides, TheRecordTellsHowTheModelWasMade) {
  const Directory directory;
  const Sides sides = town_sides(directory);
  const FitOptions options = reference_alone(3);
  const FitSidesResult result = fitted(sides, options);
  const nlohmann::json& record = result.fit.estimator.record;
  EXPECT_EQ(record["options"], to_json(options));
  EXPECT_EQ(record["data"], sides.description);
  EXPECT_EQ(record["seed"], 3);
  EXPECT_EQ(record["training"].size(), 1);
  EXPECT_EQ(record["training"][0]["method"], "which-time");
  EXPECT_EQ(record["training"][0]["steps"], 0);
  EXPECT_EQ(record["diagnostics"].dump(), to_json(result.diagnostics).dump());
  EXPECT_EQ(record["warnings"], warnings_json(result.warnings));
  for (const char* name : {"cells", "device", "threads", "dre_version", "torch_version"})
    EXPECT_TRUE(record.contains(name)) << name;
  save_model(directory.path("m.safetensors"), result.fit.estimator);
  EXPECT_EQ(load_model(directory.path("m.safetensors")).record.dump(), record.dump());
}

TEST(FitSides, WarningsComeInTheOrderOfTheWork) {
  Sides sides = far_squares();
  sides.warnings = {{"same-file", "numerator and denominator are the same file"}};
  FitOptions options = small_network(3);
  options.train.optimizer = "adamw";
  options.train.weight_decay = 1e30;  // blows the weights up at every step
  const FitSidesResult result = fitted(sides, options);
  const Strings codes = codes_of(result.warnings);
  ASSERT_GE(codes.size(), 3);
  EXPECT_EQ(codes[0], "same-file");
  EXPECT_EQ(codes[1], "training-diverged");
  EXPECT_EQ(Strings(codes.begin() + 2, codes.end()), codes_of(result.diagnostics.warnings));
  expect_contains(result.warnings[1].message, {"the loss of nce", "at step 40"});
  EXPECT_EQ(result.fit.estimator.record["training"][0]["status"], "loss not finite");
}

TEST(FitSides, AnInterruptedFitGoesOnToTheSameModel) {
  const Directory directory;
  const Sides sides = far_squares();
  const FitOptions options = small_network(3);
  const FitSidesResult whole = fitted(sides, options);
  NamedTensors state;
  Checkpointing checkpointing;
  checkpointing.save = [&](const NamedTensors& now) { state = now; };
  StopAfter two_looks(1);
  const FitSidesResult stopped = fit_sides(sides, options, two_looks, checkpointing);
  EXPECT_TRUE(stopped.fit.interrupted);
  EXPECT_TRUE(stopped.fit.estimator.record.is_null());
  EXPECT_TRUE(stopped.warnings.empty());
  ASSERT_FALSE(state.empty());
  checkpointing = {{}, state};
  Progress silent;
  const FitSidesResult resumed = fit_sides(sides, options, silent, checkpointing);
  save_model(directory.path("whole.safetensors"), whole.fit.estimator);
  save_model(directory.path("resumed.safetensors"), resumed.fit.estimator);
  EXPECT_TRUE(directory.read("whole.safetensors") == directory.read("resumed.safetensors"));
}

}  // namespace
}  // namespace dre::testing
