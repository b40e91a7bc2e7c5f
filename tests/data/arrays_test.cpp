#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <thread>

#include "dre/data/reader.h"
#include "dre/data/writer.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;
using Names = std::vector<std::string>;

const std::vector<double> small = {1, 0, 3, 2, 5, 4};

Tensor expected_small() { return torch::tensor(small, torch::kFloat64).reshape({3, 2}); }

template <class Number>
std::string small_npy(const std::string& code, bool big_endian,
                      const std::vector<Number>& numbers) {
  return npy((big_endian ? ">" : "<") + code, "(3, 2)", bytes_of(numbers, big_endian));
}

template <class Number>
void check_type(const std::string& code) {
  Directory directory;
  const std::vector<Number> numbers(small.begin(), small.end());
  for (const bool big_endian : {false, true}) {
    const Table table = read_table(directory.write("t.npy", small_npy(code, big_endian, numbers)));
    EXPECT_TRUE(torch::equal(table.values, expected_small())) << code << big_endian;
    EXPECT_EQ(table.columns, (Names{"x0", "x1"}));
  }
}

TEST(Npy, EveryNumericTypeAndByteOrder) {
  check_type<c10::Half>("f2");
  check_type<float>("f4");
  check_type<double>("f8");
  check_type<int8_t>("i1");
  check_type<int16_t>("i2");
  check_type<int32_t>("i4");
  check_type<int64_t>("i8");
  check_type<uint8_t>("u1");
  check_type<uint16_t>("u2");
  check_type<uint32_t>("u4");
  check_type<uint64_t>("u8");
  Directory directory;
  const auto values = [&](const std::string& bytes) {
    return read_table(directory.write("t.npy", bytes)).values.flatten();
  };
  EXPECT_TRUE(torch::equal(values(npy("|b1", "(2,)", std::string("\1\0", 2))),
                           torch::tensor({1., 0.}, torch::kFloat64)));
  EXPECT_TRUE(torch::equal(values(npy("|i1", "(2,)", "\xFF\x02")),
                           torch::tensor({-1., 2.}, torch::kFloat64)));
  EXPECT_EQ(values(npy("<u8", "(1,)", std::string(8, '\xFF'))).item<double>(),
            18446744073709551616.);
  EXPECT_EQ(values(npy("<f2", "(1,)", little(0x3555, 2))).item<double>(), 0.333251953125);
}

TEST(Npy, VersionsVectorsAndFortranOrder) {
  Directory directory;
  const std::string columns = bytes_of<double>({1, 3, 5, 0, 2, 4});
  for (const int version : {1, 2, 3}) {
    const auto bytes = npy("<f8", "(3, 2)", columns, true, version);
    EXPECT_TRUE(torch::equal(read_table(directory.write("t.npy", bytes)).values, expected_small()));
  }
  const Table vector = read_table(directory.write("t.npy", npy("<f8", "(6,)", bytes_of(small))));
  EXPECT_EQ(vector.columns, Names{"x0"});
  EXPECT_TRUE(torch::equal(vector.values, expected_small().reshape({6, 1})));
  const std::string python2 =
      npy_with("{'shape': (3L, 2L), 'fortran_order': False, 'descr': \"<f8\"}", bytes_of(small));
  EXPECT_TRUE(torch::equal(read_table(directory.write("t.npy", python2)).values, expected_small()));
}

TEST(Npy, OddValuesFollowTheOnePolicy) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Directory directory;
  const std::string with_nan =
      directory.write("n.npy", npy("<f8", "(2, 2)", bytes_of<double>({1, 2, nan, 4})));
  EXPECT_TRUE(read_table(with_nan).values[1][0].isnan().item<bool>());
  expect_contains(message_of([&] {
                    read_table(with_nan, {{}, {}, {}, "error"});
                  }),
                  {"n.npy: row 2, column 'x0': the value is missing", "one is needed here"});
  const std::string with_inf =
      directory.write("i.npy", npy("<f8", "(2, 2)", bytes_of<double>({1, 2, 3, -inf})));
  expect_contains(message_of([&] { read_table(with_inf); }),
                  {"i.npy: row 2, column 'x1': -Inf is infinite"});
  EXPECT_EQ(read_table(with_inf, {{}, {"x1"}, {}, "keep"}).columns, Names{"x0"});
  const Table texts = read_table(with_nan, {{"x1"}, {}, {"x0"}, "keep"});
  EXPECT_EQ(texts.texts.at("x0"), (Names{"1", ""}));
}

struct BadFile {
  std::string bytes;
  Names fragments;
};

TEST(Npy, BadFilesGetOneClearLine) {
  const std::string data = bytes_of(small);
  const std::vector<BadFile> files = {
      {"", {"ends in its header", "8 more bytes are needed, 0 are there"}},
      {"a,b\n1,2\n", {"does not begin with the bytes \\x93NUMPY"}},
      {npy("<f8", "(3, 2)", data, false, 4), {"its version is 4"}},
      {std::string("\x93NUMPY\2\0", 8) + little(0xFFFFFFF0, 4), {"header of 4294967280 bytes"}},
      {npy("<f8", "(3, 2)", data.substr(5)),
       {"needs 48 bytes of data for its shape (3, 2), but has 43", "truncated"}},
      {npy("<f8", "(3, 2)", data + "x"), {"needs 48 bytes", "but has 49"}},
      {npy("<f8", "(3, 2)", bytes_of<double>({1, 3, 5, 0, 2}), true), {"needs 48", "but has 40"}},
      {npy("<f8", "(1000000000000, 2)", data), {"needs 16000000000000 bytes", "but has 48"}},
      {npy("<f8", "(4611686018427387904, 8)", data), {"more bytes than any file has"}},
      {npy("<f8", "(99999999999999999999,)", data), {"a number that is too large"}},
      {npy("<f8", "(0, 4611686018427387904, 8)", ""), {"more bytes than any file has"}},
      {npy("<f8", "(-3, 2)", data), {"negative number"}},
      {npy("<f8", "(0, 1000000000000)", ""), {"has no rows: its shape is (0, 1000000000000)"}},
      {npy("<f8", "(3, 0)", ""), {"has no columns"}},
      {npy("|b1", "(1, 2000000)", std::string(2000000, '\1')),
       {"2000000 columns; at most 1048576"}},
      {npy("<f8", "(1, 3, 2)", data), {"shape (1, 3, 2)", "needs (rows, columns)"}},
      {npy("<f8", "()", data.substr(0, 8)), {"has the shape ()"}},
      {npy("|O", "(3, 2)", data), {"Python objects", "astype(float)"}},
      {npy("<U5", "(3, 2)", data), {"dtype '<U5' is not read"}},
      {npy("<c16", "(3,)", data), {"dtype '<c16'"}},
      {npy("<f16", "(3,)", data), {"dtype '<f16'"}},
      {npy_with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }", data),
       {"structured array"}},
      {npy_with("{'descr': '<f8', 'shape': (6,), }", data), {"header is damaged"}},
      {npy_with("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (6,), }", data),
       {"header is damaged near 'Maybe"}},
      {npy_with("import os", data), {"header is damaged"}},
  };
  Directory directory;
  for (const auto& file : files) {
    const std::string path = directory.write("t.npy", file.bytes);
    const std::string message = message_of([&] { read_table(path); });
    expect_contains(message, {path});
    expect_contains(message, file.fragments);
  }
}

/// Many more rows than one slice or block holds, in both orders.
TEST(Npy, ChunksEqualTheWhole) {
  const int64_t count = 50000;
  const Tensor values = torch::arange(3 * count, torch::kFloat32).reshape({count, 3});
  const auto bytes_in = [](const Tensor& tensor) {
    const Tensor t = tensor.contiguous();
    return std::string(static_cast<const char*>(t.data_ptr()), t.nbytes());
  };
  Directory directory;
  const std::string shape = "(50000, 3)";
  const Names paths = {
      directory.write("c.npy", npy("<f4", shape, bytes_in(values))),
      directory.write("f.npy", npy("<f4", shape, bytes_in(values.t()), true)),
      directory.write("f.npz", zip({{"m.npy", npy("<f4", shape, bytes_in(values.t()), true)}})),
  };
  for (const auto& path : paths)
    for (const int64_t size : {777, 25000, 1000000}) {
      const auto reader = open_table(path);
      std::vector<Tensor> blocks;
      while (const auto block = reader->next(size)) blocks.push_back(block->values);
      EXPECT_TRUE(torch::equal(torch::cat(blocks), values.to(torch::kFloat64))) << path << size;
    }
}

TEST(Npz, ArraysBecomeColumns) {
  Directory directory;
  const std::string matrix = npy("<f8", "(3, 2)", bytes_of(small));
  const std::string vector = npy("<i4", "(3,)", bytes_of<int32_t>({7, 8, 9}));
  const Table alone = read_table(directory.write("t.npz", zip({{"a.npy", matrix}})));
  EXPECT_EQ(alone.columns, (Names{"x0", "x1"}));
  EXPECT_TRUE(torch::equal(alone.values, expected_small()));
  EXPECT_EQ(read_table(directory.write("t.npz", zip({{"age.npy", vector}}))).columns, Names{"age"});
  const Tensor column = torch::tensor({7., 8., 9.}, torch::kFloat64).unsqueeze(1);
  for (const bool deflated : {false, true})
    for (const bool zip64 : {false, true}) {
      const auto bytes =
          zip({{"a.npy", matrix, deflated, zip64}, {"b.npy", vector, deflated, zip64}});
      const Table table = read_table(directory.write("t.npz", bytes));
      EXPECT_EQ(table.columns, (Names{"a0", "a1", "b"}));
      EXPECT_TRUE(torch::equal(table.values, torch::cat({expected_small(), column}, 1)));
    }
}

/// What Python's zipfile writes to a stream: deflated, zip64 extra fields, data descriptors.
const std::string& streamed_npz() {
  static const std::string bytes = from_hex(
      "504b03042d00080008000000210000000000ffffffffffffffff05001400612e6e7079010010000000000000"
      "00000000000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f5452"
      "9498179f5f94920a12774bcc294e058a17672416a402f91a263a0a469a3a0ab50a64032e0614f0c11eca7080"
      "501c505a004a8b406909282de30000504b0708db3541325c00000000000000c000000000000000504b03042d"
      "00080008000000210000000000ffffffffffffffff05001400622e6e70790100100000000000000000000000"
      "0000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f"
      "94920a12774bcc294e058a17672416a402f91a263a9a3a0ab50a14002e2e06060611209603620d200600504b"
      "0708655831e850000000000000009000000000000000504b01022d032d000800080000002100db3541325c00"
      "0000c0000000050000000000000000000000800100000000612e6e7079504b01022d032d0008000800000021"
      "00655831e850000000900000000500000000000000000000008001ab000000622e6e7079504b050600000000"
      "02000200660000004a0100000000");
  return bytes;
}

TEST(Npz, DataDescriptorsAndRealDeflate) {
  Directory directory;
  const Table table = read_table(directory.write("t.npz", streamed_npz()));
  EXPECT_EQ(table.columns, (Names{"a0", "a1", "b"}));
  const Tensor expected =
      torch::tensor({0., 1., 10., 2., 3., 20., 4., 5., 30., 6., 7., 40.}, torch::kFloat64);
  EXPECT_TRUE(torch::equal(table.values.flatten(), expected));
}

std::string replaced(std::string bytes, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; at += to.size())
    bytes.replace(at, from.size(), to);
  return bytes;
}

TEST(Npz, BadFilesGetOneClearLine) {
  const std::string matrix = npy("<f8", "(3, 2)", bytes_of(small));
  const std::string vector = npy("<f8", "(2,)", bytes_of<double>({1, 2}));
  const std::string stored = zip({{"a.npy", matrix}});
  const std::string packed = zip({{"a.npy", matrix, true}});
  const std::string size = little(matrix.size(), 4);
  const std::string packed_size = little(matrix.size() + 5, 4);
  const std::string flipped = replaced(stored, bytes_of<double>({5}), bytes_of<double>({6}));
  std::string encrypted = stored;
  encrypted[encrypted.find("PK\1\2") + 8] = 1;
  std::string bzip = stored;
  bzip[bzip.find("PK\1\2") + 10] = 12;
  const std::vector<BadFile> files = {
      {"", {"no zip directory at its end"}},
      {"a,b\n1,2\n", {"is not a usable npz file", "no npz file"}},
      {stored.substr(0, stored.size() - 1), {"truncated or no npz file"}},
      {zip({}), {"npz file without arrays"}},
      {zip({{"a.txt", "hello"}}), {"holds 'a.txt', which is not an npy array"}},
      {zip({{"a.npy", "hello"}}), {"array 'a'", "ends in its header"}},
      {zip({{"a.npy", matrix}, {"a.npy", matrix}}), {"two entries called 'a.npy'"}},
      {zip({{"a.npy", matrix}, {"b.npy", vector}}),
       {"array 'a' has 3 rows but array 'b' has 2", "same number of rows"}},
      {zip({{"a0.npy", npy("<f8", "(3,)", bytes_of<double>({1, 2, 3}))}, {"a.npy", matrix}}),
       {"columns 1 and 2 are both called 'a0'"}},
      {zip({{"a.npy", npy("<f8", "(3, 2)", "short")}, {"b.npy", vector}}),
       {"array 'a' needs 48 bytes of data", "but has 5"}},
      {flipped, {"entry 'a.npy' does not match its checksum"}},
      {replaced(packed, packed_size + size, packed_size + little(10000000, 4)),
       {"claims to unpack", "10000000"}},
      {replaced(packed, packed_size + size, packed_size + little(matrix.size() + 64, 4)),
       {"array 'a' needs 48 bytes of data", "but has 112"}},
      {replaced(packed, packed_size + size, packed_size + little(matrix.size() - 8, 4)),
       {"array 'a' needs 48 bytes of data", "but has 40"}},
      {replaced(stored, size + size, size + little(matrix.size() + 1, 4)), {"claims to unpack"}},
      {replaced(stored, size + size, little(1000000, 4) + little(1000000, 4)),
       {"claims 1000000 bytes at byte 0"}},
      {encrypted, {"'a.npy' is encrypted"}},
      {bzip, {"packed with method 12", "numpy.savez"}},
      {replaced(packed, '\1' + little(matrix.size(), 2), '\7' + little(matrix.size(), 2)),
       {"cannot be unpacked"}},
  };
  Directory directory;
  for (const auto& file : files) {
    const std::string path = directory.write("t.npz", file.bytes);
    const std::string message = message_of([&] { read_table(path); });
    expect_contains(message, {path});
    expect_contains(message, file.fragments);
  }
}

/// The directory and the array agree on a size, and the packed bytes give another.
TEST(Npz, UnpackedSizesAreChecked) {
  const std::string long_array = npy("<f8", "(3, 2)", bytes_of(small));
  const std::string short_array = npy("<f8", "(2, 2)", bytes_of<double>({1, 2, 3, 4}));
  // Equal headers apart from the shape, so the claim can be moved from one to the other.
  std::string bytes = zip({{"a.npy", replaced(long_array, "(3, 2)", "(2, 2)"), true}});
  bytes = replaced(bytes, little(long_array.size() + 5, 4) + little(long_array.size(), 4),
                   little(long_array.size() + 5, 4) + little(short_array.size(), 4));
  Directory directory;
  expect_contains(message_of([&] { read_table(directory.write("t.npz", bytes)); }),
                  {"'a.npy' unpacks to more than the 160 bytes"});
  bytes = zip({{"a.npy", replaced(short_array, "(2, 2)", "(3, 2)"), true}});
  bytes = replaced(bytes, little(short_array.size() + 5, 4) + little(short_array.size(), 4),
                   little(short_array.size() + 5, 4) + little(long_array.size(), 4));
  expect_contains(message_of([&] { read_table(directory.write("t.npz", bytes)); }),
                  {"'a.npy' ends before the 176 bytes"});
}

/// Standard input is this file while the object lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : saved_(::dup(STDIN_FILENO)) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::dup2(file, STDIN_FILENO);
    ::close(file);
  }
  ~StandardInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

Table read_input(const std::string& bytes) {
  Directory directory;
  const StandardInput input(directory.write("input", bytes));
  return read_table("-");
}

TEST(StandardInput, CsvAndNpyAreTold) {
  const std::string columns = bytes_of<double>({1, 3, 5, 0, 2, 4});
  for (const auto& bytes :
       {std::string("x0,x1\n1,0\n3,2\n5,4\n"), npy("<f8", "(3, 2)", bytes_of(small)),
        npy("<f8", "(3, 2)", columns, /*fortran=*/true)}) {
    const Table table = read_input(bytes);
    EXPECT_EQ(table.columns, (Names{"x0", "x1"}));
    EXPECT_TRUE(torch::equal(table.values, expected_small()));
  }
}

TEST(StandardInput, IsCalledByNameInMessages) {
  expect_contains(message_of([] { read_input("a,b\n1,x\n"); }),
                  {"standard input: row 1 (line 2), column 'b'"});
  expect_contains(message_of([] { read_input(""); }), {"standard input is empty"});
  // The size is not known beforehand: absurd shapes must fail for want of bytes, not of memory.
  expect_contains(message_of([] { read_input(npy("<f8", "(1000000000000, 2)", "12345678")); }),
                  {"standard input needs 16000000000000 bytes", "but has 8"});
  expect_contains(message_of([] { read_input(npy("<f8", "(6,)", bytes_of(small) + "x")); }),
                  {"but has 49"});
}

TEST(StandardInput, PipesWithANameWorkToo) {
  Directory directory;
  const std::string bytes = npy("<f8", "(3, 2)", bytes_of(small));
  for (const std::string name : {"pipe", "pipe.npy"}) {
    ASSERT_EQ(::mkfifo(directory.path(name).c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(directory.path(name), std::ios::binary) << bytes; });
    EXPECT_TRUE(torch::equal(read_table(directory.path(name)).values, expected_small()));
    writer.join();
  }
  // What a .npy begins with is known at its end only.
  expect_contains(
      message_of([&] { check_table_format(directory.path("pipe.npy")); }, Error::Kind::usage),
      {"pipe.npy is no file", "another format"});
}

}  // namespace
}  // namespace dre
