#include "dre/data/safetensors.h"

#include <gtest/gtest.h>

#include "dre/data/checksum.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;
using Names = std::vector<std::string>;

std::string container(const std::string& header, const std::string& data) {
  return little(header.size(), 8) + header + data;
}

TensorFile every_type() {
  TensorFile content;
  for (const auto type :
       {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
        torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool})
    content.tensors.emplace_back(std::string("t.") + c10::toString(type),
                                 torch::arange(6).remainder(2).reshape({2, 3}).to(type));
  content.tensors.emplace_back("scalar", torch::tensor(0.1, torch::kFloat64));
  content.tensors.emplace_back("empty", torch::zeros({0, 4}));
  content.metadata = {{"config", "{\"seed\": 1, \"name\": \"\xC3\xA9\"}"}, {"format", "1"}};
  return content;
}

TEST(Safetensors, EveryTypeSurvives) {
  Directory directory;
  const TensorFile saved = every_type();
  save_safetensors(directory.path("m.safetensors"), saved);
  const TensorFile loaded = load_safetensors(directory.path("m.safetensors"));
  EXPECT_EQ(loaded.metadata, saved.metadata);
  ASSERT_EQ(loaded.tensors.size(), saved.tensors.size());
  EXPECT_TRUE(std::is_sorted(loaded.tensors.begin(), loaded.tensors.end(),
                             [](auto& left, auto& right) { return left.first < right.first; }));
  const std::map<std::string, Tensor> by_name(loaded.tensors.begin(), loaded.tensors.end());
  for (const auto& [name, tensor] : saved.tensors) {
    EXPECT_EQ(by_name.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(by_name.at(name), tensor)) << name;
  }
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
  Directory directory;
  const std::string header =
      "{\"__metadata__\":{\"k\":\"v\"},"
      "\"a\":{\"data_offsets\":[8,12],\"dtype\":\"F32\",\"shape\":[1,1]},"
      "\"b\":{\"data_offsets\":[0,8],\"dtype\":\"F64\",\"shape\":[]}}";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string bytes = container(padded, bytes_of<double>({2.5}) + bytes_of<float>({1.5}));
  const TensorFile content{
      {{"a", torch::full({1, 1}, 1.5f)}, {"b", torch::tensor(2.5, torch::kFloat64)}}, {{"k", "v"}}};
  save_safetensors(directory.path("m"), content);
  EXPECT_EQ(directory.read("m"), bytes);
}

TEST(Safetensors, EqualContentGivesEqualBytes) {
  Directory directory;
  TensorFile content = every_type();
  content.tensors.emplace_back("w", torch::arange(6.).reshape({2, 3}));
  save_safetensors(directory.path("one"), content);
  content.tensors.back().second = torch::arange(6.).reshape({2, 3}).t().contiguous().t();
  std::reverse(content.tensors.begin(), content.tensors.end());
  save_safetensors(directory.path("two"), content);
  EXPECT_EQ(directory.read("one"), directory.read("two"));
  uint64_t length = 0;
  std::memcpy(&length, directory.read("one").data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

TEST(Safetensors, WhatCannotBeSavedIsUsage) {
  Directory directory;
  const auto usage = [&](const TensorFile& content) {
    return message_of([&] { save_safetensors(directory.path("m"), content); }, Error::Kind::usage);
  };
  const Tensor one = torch::ones({1});
  expect_contains(usage({{{"a", one}, {"a", one}}, {}}), {"two tensors are called 'a'"});
  expect_contains(usage({{{"__metadata__", one}}, {}}), {"cannot be called"});
  expect_contains(usage({{{"a", Tensor()}}, {}}), {"'a' is undefined"});
  expect_contains(usage({{{"a", one.to(torch::kComplexFloat)}}, {}}), {"'a'", "known are F64"});
  expect_contains(usage({{}, {{"k", "\xFF"}}}), {"UTF-8"});
  EXPECT_TRUE(directory.list().empty());
}

struct BadSafetensors {
  std::string bytes;
  Names fragments;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, BadFilesGetOneClearLine) {
  const std::string four(4, '\0'), eight(8, '\0');
  const auto one = [&](const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
    return container("{\"a\":" + entry(dtype, shape, offsets) + "}", eight);
  };
  const auto two = [&](const std::string& first, const std::string& second) {
    return container(
        "{\"a\":" + entry("F32", "[1]", first) + ",\"b\":" + entry("F32", "[1]", second) + "}",
        eight);
  };
  const std::vector<BadSafetensors> files = {
      {"", {"it has 0 bytes"}},
      {"PK\x03\x04 some archive of another kind", {"claim a header of", "of another format"}},
      {little(100, 8) + "{}", {"claim a header of 100 bytes, but 2 are possible"}},
      {little(~uint64_t{0}, 8) + "{}", {"claim a header of 18446744073709551615"}},
      {little(1, 8) + "{}", {"claim a header of 1 bytes"}},
      {container("[]", ""), {"does not begin with '{'"}},
      {container("{\"a\":", ""), {"not valid JSON"}},
      {container("{\"\xFF\":1}", ""), {"not valid JSON"}},
      {container("{\"a\":" + entry("F32", "[1]", "[0,4]") +
                     ",\"a\":" + entry("F32", "[1]", "[4,8]") + "}",
                 eight),
       {"the key 'a' twice"}},
      {container("{\"__metadata__\":[]}", ""), {"metadata is not a JSON object"}},
      {container("{\"__metadata__\":{\"k\":1}}", ""), {"metadata 'k' is not a text"}},
      {container("{\"a\":1}", ""), {"tensor 'a' is not a JSON object"}},
      {container("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", four), {"has no data_offsets"}},
      {one("F8", "[1]", "[0,8]"), {"tensor 'a' has the dtype 'F8'; known are F64"}},
      {one("F64", "1", "[0,8]"), {"shape of tensor 'a' is not a list"}},
      {one("F64", "[-1]", "[0,8]"), {"other than whole numbers"}},
      {one("F64", "[1.0]", "[0,8]"), {"other than whole numbers"}},
      {one("F64", "[18446744073709551615]", "[0,8]"), {"other than whole numbers"}},
      {one("F64", "[4611686018427387904,8]", "[0,8]"), {"absurd shape"}},
      {one("F64", "[0,4611686018427387904,8]", "[0,0]"), {"absurd shape"}},
      {one("F64", "[1000000000000]", "[0,8]"), {"needs 8000000000000 bytes but lies from 0 to 8"}},
      {one("F64", "[1]", "[8,0]"), {"lies from 8 to 0"}},
      {one("F64", "[1]", "[0]"), {"are not two numbers"}},
      {one("F64", "[2]", "[0,16]"), {"need 16 bytes of data, but it has 8", "truncated"}},
      {one("F32", "[1]", "[0,4]"), {"need 4 bytes of data, but it has 8"}},
      {one("F32", "[1]", "[4,8]"), {"begins at byte 4 where 0 is expected"}},
      {two("[0,4]", "[0,4]"), {"overlap or leave a hole"}},
      {container("{\"a\":" + entry("BOOL", "[1]", "[0,1]") + "}", "\x02"), {"byte 2 among its"}},
  };
  Directory directory;
  for (const auto& file : files) {
    const std::string path = directory.write("m", file.bytes);
    const std::string message = message_of([&] { load_safetensors(path); });
    expect_contains(message, {path + " is not a safetensors file: "});
    expect_contains(message, file.fragments);
  }
  expect_contains(message_of([&] { load_safetensors(directory.path("no")); }), {"No such file"});
}

TEST(Checksum, IsTheCrcOfTheBytes) {
  Directory directory;
  EXPECT_EQ(file_checksum(directory.write("t", "123456789")), "cbf43926");  // the usual check value
  EXPECT_EQ(file_checksum(directory.write("t", "")), "00000000");
  const Tensor values = torch::arange(12, torch::kFloat64).reshape({3, 4});
  const std::string bytes(static_cast<const char*>(values.data_ptr()), 96);
  EXPECT_EQ(std::stoul(tensor_checksum(values), nullptr, 16), crc32_by_bits(bytes));
  EXPECT_EQ(tensor_checksum(values.t().contiguous().t()), tensor_checksum(values));
  EXPECT_NE(tensor_checksum(values.t()), tensor_checksum(values));
  EXPECT_EQ(tensor_checksum(torch::empty({0})), "00000000");
  Checksum pieces;
  pieces.add("1234", 4);
  pieces.add(nullptr, 0);
  pieces.add("56789", 5);
  EXPECT_EQ(pieces.hex(), "cbf43926");
}

}  // namespace
}  // namespace dre
