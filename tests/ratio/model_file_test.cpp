#include "dre/ratio/model_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "dre/base/error.h"
#include "dre/data/safetensors.h"
#include "tests/data/files.h"
#include "tests/support/gaussian_pair.h"

namespace dre {
namespace {

using nlohmann::json;
using testing::Directory;

const Names columns = {"age", "größe", "rate"};

/// Raw rows of two correlated sides with different scales.
Tensor raw_rows(int64_t n, uint64_t seed) {
  auto generator = testing::double_context(seed).generator("rows");
  const Tensor z = normal({n, 3}, torch::kFloat64, generator);
  const Tensor mix =
      torch::tensor({{3.0, 1.0, 0.0}, {0.0, 0.5, 0.2}, {0.0, 0.0, 20.0}}, torch::kFloat64);
  return z.matmul(mix) + 0.3 * static_cast<double>(seed);
}

GaussianEnds ends_of(const Coordinates& coordinates) {
  const Moments& m = coordinates.basis().moments();
  return {m.mean0, m.variance0, m.mean1, m.variance1};
}

/// An estimator without members, as a fit would start it.
Estimator empty_estimator(bool with_reference) {
  const Coordinates coordinates =
      Coordinates::fit(make_samples(raw_rows(300, 1)), make_samples(raw_rows(200, 2)), columns, {});
  return Estimator(coordinates, ends_of(coordinates), with_reference, Context{});
}

/// A member with random weights: what training would have found does not matter here.
void add_member(Estimator& estimator, const std::string& method, double weight) {
  ScoreOptions small;
  small.width = 4;
  small.depth = 1;
  small.classes = 5;
  BridgeOptions bridge;
  bridge.bridge = "dequantified";
  bridge.noise = 0.7;
  Member member = estimator.make_member(method, bridge, small);
  testing::randomise(member.score->network().parameters());
  member.weight = weight;
  member.correction = 1.0 / 3;
  estimator.add(std::move(member));
}

Estimator small_estimator() {
  Estimator estimator = empty_estimator(true);
  add_member(estimator, "nce", 1);
  estimator.record = {{"seed", 7}};
  return estimator;
}

void expect_same_bytes(const Estimate& a, const Estimate& b, const std::string& label) {
  EXPECT_TRUE(torch::equal(a.log_ratio, b.log_ratio)) << label;
  EXPECT_TRUE(torch::equal(a.error, b.error)) << label;
  EXPECT_EQ(a.evaluations, b.evaluations) << label;
  EXPECT_EQ(a.spread.defined(), b.spread.defined()) << label;
  if (a.spread.defined()) {
    EXPECT_TRUE(torch::equal(a.spread, b.spread)) << label;
  }
}

TEST(ModelFile, EveryMethodComesBackToTheSameBytes) {
  const Directory directory;
  const std::string path = directory.path("model.safetensors");
  const Tensor rows = raw_rows(40, 3);
  for (const auto& method : method_names())
    for (const bool with_reference : {false, true}) {
      Estimator saved = empty_estimator(with_reference);
      add_member(saved, method, 0.9);
      saved.record = {{"method", method}, {"rate", 0.1}};
      save_model(path, saved);
      const Estimator loaded = load_model(path);
      expect_same_bytes(loaded.log_ratio(rows), saved.log_ratio(rows), method);
      EXPECT_EQ(loaded.record, saved.record) << method;
      EXPECT_EQ(loaded.names(), columns) << method;
      EXPECT_EQ(loaded.uses_reference(), with_reference) << method;
      EXPECT_EQ(loaded.members().at(0).method, method);
      EXPECT_EQ(loaded.members().at(0).correction, 1.0 / 3);
    }
}

TEST(ModelFile, SeveralMembersAndOtherPathsComeBackToo) {
  const Directory directory;
  const std::string path = directory.path("model.safetensors");
  Estimator saved = empty_estimator(true);
  add_member(saved, "velocity", 0.3);
  add_member(saved, "joint", 0.4);
  save_model(path, saved);
  const Estimator loaded = load_model(path);
  RatioOptions line;
  line.path = "line";
  expect_same_bytes(loaded.log_ratio(raw_rows(40, 3), line), saved.log_ratio(raw_rows(40, 3), line),
                    "line");
}

TEST(ModelFile, CountsOfRowsComeBackToo) {
  const Directory directory;
  const std::string path = directory.path("model.safetensors");
  Estimator saved = small_estimator();
  saved.members()[0].weight = 0.25;
  const Tensor rows = raw_rows(3, 3), z = saved.coordinates().forward(rows);
  const auto seen = [&](const std::vector<int64_t>& counts) {
    return make_samples(z.repeat_interleave(torch::tensor(counts, torch::kInt64), 0));
  };
  const Tensor before = saved.log_ratio(rows).log_ratio;
  const Tensor none = torch::zeros({500}, torch::kFloat64);
  saved.cells = CellTable::fit(seen({300, 100, 100}), none, seen({100, 300, 100}), none, 3);
  save_model(path, saved);
  const Estimator loaded = load_model(path);
  expect_same_bytes(loaded.log_ratio(rows), saved.log_ratio(rows), "counts");
  // They are part of the reference, from which members deviate.
  const Tensor added = loaded.log_ratio(rows).log_ratio - before;
  EXPECT_TRUE(torch::allclose(added, 0.75 * saved.cells.deviation(z)));
  EXPECT_GT(added[0].item<double>(), 0.5);
}

TEST(ModelFile, SavingAgainGivesTheSameFile) {
  const Directory directory;
  save_model(directory.path("a"), small_estimator());
  save_model(directory.path("b"), load_model(directory.path("a")));
  EXPECT_EQ(directory.read("a"), directory.read("b"));
}

/// The message of the data error that loading ends with; it must name the file.
std::string refusal(const std::string& path) {
  try {
    load_model(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data) << error.what();
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << path << " was loaded";
  return "";
}

TEST(ModelFile, EveryTruncationIsADataError) {
  const Directory directory;
  save_model(directory.path("whole"), small_estimator());
  const std::string bytes = directory.read("whole");
  for (size_t i = 0; i < 50; ++i)
    refusal(directory.write("part", bytes.substr(0, bytes.size() * i / 50)));
  refusal(directory.write("part", bytes.substr(0, bytes.size() - 1)));
  refusal(directory.write("part", bytes + "x"));
  refusal(directory.path("nothing"));
}

/// A flipped byte of the header may turn one valid text into another. Whatever it does, the answer
/// is a model or a data error that names the file.
TEST(ModelFile, CorruptionOfTheHeaderNeverGivesAnythingButADataError) {
  const Directory directory;
  save_model(directory.path("whole"), small_estimator());
  const std::string bytes = directory.read("whole");
  const size_t header = bytes.find("}}") + 2;
  int refused = 0;
  for (size_t i = 0; i < 200; ++i) {
    const size_t place = i < 8 ? i : 8 + (header - 8) * (i - 8) / 192;
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << i % 7));
    const std::string path = directory.write("damaged", damaged);
    try {
      load_model(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::data) << error.what();
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

/// Rewrites a good model, as one without a checksum, after `edit` changed its tensors or its
/// description.
std::string edited(const Directory& directory,
                   const std::function<void(TensorFile&, json&)>& edit) {
  const std::string path = directory.path("edited");
  save_model(path, small_estimator());
  TensorFile file = load_safetensors(path);
  json description = json::parse(file.metadata.at("dre"));
  description.erase("checksum");
  edit(file, description);
  file.metadata["dre"] = description.dump();
  save_safetensors(path, file);
  return path;
}

TEST(ModelFile, OtherVersionsAndForeignFilesAreToldApart) {
  const Directory directory;
  const auto with_version = [&](const json& version) {
    return refusal(edited(directory, [&](TensorFile&, json& j) { j["format_version"] = version; }));
  };
  EXPECT_NE(with_version(4).find("model format 4"), std::string::npos);
  EXPECT_NE(with_version(4).find("newer dre"), std::string::npos);
  EXPECT_NE(with_version(0).find("model format 0"), std::string::npos);
  for (const json& odd : {json("1"), json(nullptr), json(1.5), json::array()})
    EXPECT_NE(with_version(odd).find("damaged"), std::string::npos) << odd;
  for (const json& odd : {json("other"), json(3), json(nullptr), json::object()}) {
    const auto path = edited(directory, [&](TensorFile&, json& j) { j["format"] = odd; });
    EXPECT_NE(refusal(path).find("not a dre model"), std::string::npos) << odd;
  }
  save_safetensors(directory.path("foreign"), {{{"weight", torch::ones({3})}}, {}});
  EXPECT_NE(refusal(directory.path("foreign")).find("not a dre model"), std::string::npos);
  save_safetensors(directory.path("foreign"), {{{"weight", torch::ones({3})}}, {{"dre", "[1, 2"}}});
  EXPECT_NE(refusal(directory.path("foreign")).find("not a dre model"), std::string::npos);
  refusal(directory.write("text", "age,rate\n1,2\n"));
}

TEST(ModelFile, OtherContentThanWasWrittenIsDamage) {
  const Directory directory;
  const std::string path = directory.path("model");
  save_model(path, small_estimator());
  TensorFile file = load_safetensors(path);
  for (auto& [name, tensor] : file.tensors) {
    const Tensor before = tensor;
    tensor = tensor + 1;
    save_safetensors(path, file);
    EXPECT_NE(refusal(path).find("not what was written"), std::string::npos) << name;
    tensor = before;
  }
  save_safetensors(path, file);
  EXPECT_NO_THROW(load_model(path, {}));
  json description = json::parse(file.metadata.at("dre"));
  description["encoding"]["raw"][0]["fill"] = 7;
  file.metadata["dre"] = description.dump();
  save_safetensors(path, file);
  EXPECT_NE(refusal(path).find("not what was written"), std::string::npos);
}

TEST(ModelFile, MissingAndWrongPartsAreDamage) {
  const Directory directory;
  refusal(edited(directory, [](TensorFile&, json& j) { j.erase("record"); }));
  for (const char* part : {"coordinates", "reference", "members"}) {
    refusal(edited(directory, [&](TensorFile&, json& j) { j.erase(part); }));
    refusal(edited(directory, [&](TensorFile&, json& j) { j[part] = "?"; }));
  }
  for (const char* part : {"method", "bridge", "score", "weight", "correction"}) {
    refusal(edited(directory, [&](TensorFile&, json& j) { j["members"][0].erase(part); }));
    refusal(
        edited(directory, [&](TensorFile&, json& j) { j["members"][0][part] = json::array(); }));
  }
  refusal(edited(directory, [](TensorFile&, json& j) { j["members"][0]["method"] = "tree"; }));
  refusal(edited(directory, [](TensorFile&, json& j) { j["members"][0]["score"]["width"] = 5; }));
  refusal(edited(directory, [](TensorFile&, json& j) { j["members"][0]["score"]["width"] = -1; }));
  refusal(edited(directory, [](TensorFile&, json& j) { j["members"][0]["score"]["wide"] = 1; }));
  const size_t tensors =
      load_safetensors(edited(directory, [](TensorFile&, json&) {})).tensors.size();
  for (size_t i = 0; i < tensors; ++i) {
    refusal(edited(directory,
                   [&](TensorFile& file, json&) { file.tensors.erase(file.tensors.begin() + i); }));
    refusal(edited(directory, [&](TensorFile& file, json&) {
      file.tensors[i].second = torch::ones({2, 1, 2}, torch::kFloat64);
    }));
  }
}

}  // namespace
}  // namespace dre
