/// Damaged files either load or throw dre::Error: no crash, no other exception, no absurd memory.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "dre/data/reader.h"
#include "dre/data/safetensors.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;

struct Sample {
  std::string name, bytes;
  std::function<void(const std::string& path)> load;
};

std::vector<Sample> samples() {
  const auto read = [](const std::string& path) { read_table(path); };
  const auto load = [](const std::string& path) { load_safetensors(path); };
  const std::string matrix = npy("<f8", "(3, 2)", bytes_of<double>({1, 2, 3, 4, 5, 6}));
  const std::string columns = npy("<f4", "(2, 3)", bytes_of<float>({1, 2, 3, 4, 5, 6}), true, 2);
  const std::string vector = npy("<i2", "(3,)", bytes_of<int16_t>({7, 8, 9}));
  Directory directory;
  save_safetensors(
      directory.path("m"),
      {{{"w", torch::ones({2, 2})}, {"on", torch::ones({3}, torch::kBool)}}, {{"key", "value"}}});
  return {
      {"t.csv", "a,\"b\"\"c\"\r\n1,\"2\"\r\n-3.5e1,NA\r\n", read},
      {"c.npy", matrix, read},
      {"f.npy", columns, read},
      {"s.npz", zip({{"a.npy", matrix}, {"b.npy", vector}}), read},
      {"d.npz", zip({{"a.npy", matrix, true, true}, {"b.npy", vector, true, false}}), read},
      {"t.csv.gz", from_hex("1f8b08000000000002034bd449e232d431e232d631e10200e5e9d6ce0c000000"),
       read},
      {"m", directory.read("m"), load},
  };
}

/// True when the file loads, false when it is refused in one line.
bool loads(const Sample& sample, const Directory& directory, const std::string& bytes) {
  const std::string path = directory.write(sample.name, bytes);
  try {
    sample.load(path);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::data) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return false;
  } catch (const std::exception& error) {
    ADD_FAILURE() << sample.name << ": " << error.what();
    return false;
  }
}

TEST(Damage, EveryTruncationIsHandled) {
  for (const Sample& sample : samples()) {
    Directory directory;
    EXPECT_TRUE(loads(sample, directory, sample.bytes)) << sample.name;
    const MemoryLimit limit(rlim_t{256} << 20);
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      const bool loaded = loads(sample, directory, sample.bytes.substr(0, size));
      EXPECT_TRUE(!loaded || sample.name == "t.csv") << sample.name << " of " << size << " bytes";
    }
  }
}

TEST(Damage, RandomBytesAreHandled) {
  std::mt19937 random(1);
  for (const Sample& sample : samples()) {
    Directory directory;
    EXPECT_TRUE(loads(sample, directory, sample.bytes)) << sample.name;
    const MemoryLimit limit(rlim_t{256} << 20);
    int refused = 0;
    for (int i = 0; i < 500; ++i) {
      std::string bytes = sample.bytes;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      refused += !loads(sample, directory, bytes);
    }
    EXPECT_GT(refused, 100) << sample.name;
  }
}

/// 320 MB and more are read within 64 MB: the data of the arrays are holes in the file.
TEST(Streaming, MemoryDoesNotGrowWithTheFile) {
  Directory directory;
  const int64_t rows = 10'000'000;
  for (const bool fortran : {false, true}) {
    const std::string header = npy("<f8", "(10000000, 4)", "", fortran);
    const std::string path = directory.write("t.npy", header);
    std::filesystem::resize_file(path, header.size() + 32 * rows);
    const auto reader = open_table(path);
    const MemoryLimit limit(rlim_t{64} << 20);
    int64_t read = 0;
    while (const auto block = reader->next(100'000)) read += block->rows();
    EXPECT_EQ(read, rows);
  }
  std::string bytes = "a,b\n";
  for (int i = 0; i < 2'000'000; ++i) bytes += "0.123456789,-1\n";
  const auto reader = open_table(directory.write("t.csv", bytes));
  const MemoryLimit limit(rlim_t{16} << 20);
  int64_t read = 0;
  while (const auto block = reader->next(10'000)) read += block->rows();
  EXPECT_EQ(read, 2'000'000);
}

}  // namespace
}  // namespace dre
