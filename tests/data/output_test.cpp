#include "dre/data/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "dre/data/reader.h"
#include "dre/data/writer.h"
#include "tests/data/files.h"

namespace dre {
namespace {

using namespace dre::testing;
using Names = std::vector<std::string>;

/// A disk that is full after `bytes`: larger files fail with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

TEST(Outputs, AreNoInputsAndNotTwice) {
  Directory directory;
  const std::string in = directory.write("in.csv", "x"), out = directory.path("out.csv");
  std::filesystem::create_symlink("in.csv", directory.path("link"));
  check_outputs({out, "", "-", "/dev/null"}, {in, "", "-", "/dev/null"});
  for (const std::string& name : {in, directory.path("link"), directory.path("./in.csv")})
    expect_contains(message_of([&] { check_outputs({name}, {in}); }, Error::Kind::usage),
                    {name, "input"});
  expect_contains(message_of(
                      [&] {
                        check_outputs({out, directory.path("./out.csv")}, {in});
                      },
                      Error::Kind::usage),
                  {"two outputs"});
  EXPECT_EQ(directory.read("in.csv"), "x");
}

TEST(OutputFile, AppearsWholeOrNotAtAll) {
  Directory directory;
  directory.write("t.csv", "old");
  {
    OutputFile file(directory.path("t.csv"));
    file.write("new");
    EXPECT_EQ(directory.read("t.csv"), "old");
  }
  EXPECT_EQ(directory.read("t.csv"), "old");
  EXPECT_EQ(directory.list(), Names{"t.csv"});
  OutputFile file(directory.path("t.csv"));
  file.write("new ");
  file.write(std::string(1 << 20, 'x'));
  file.write_at(1, "EW");
  file.commit();
  EXPECT_EQ(directory.read("t.csv"), "nEW " + std::string(1 << 20, 'x'));
  EXPECT_EQ(directory.list(), Names{"t.csv"});
  expect_contains(message_of([&] { file.write("more"); }, Error::Kind::usage), {"is complete"});
}

TEST(OutputFile, KeepsPermissionsAndHonoursUmask) {
  Directory directory;
  const std::string path = directory.write("old", "x");
  ::chmod(path.c_str(), 0640);
  const auto mode = [](const std::string& file) {
    struct stat status {};
    ::stat(file.c_str(), &status);
    return status.st_mode & 07777;
  };
  const auto write = [](const std::string& file) {
    OutputFile out(file);
    out.write("y");
    out.commit();
  };
  write(path);
  EXPECT_EQ(mode(path), mode_t{0640});
  const mode_t old = ::umask(0027);
  write(directory.path("new"));
  ::umask(old);
  EXPECT_EQ(mode(directory.path("new")), mode_t{0640});
}

TEST(OutputFile, FollowsLinks) {
  Directory directory;
  std::filesystem::create_directory(directory.path("d"));
  std::filesystem::create_symlink("d/target", directory.path("link"));
  for (const std::string bytes : {"first, the target is not there", "second"}) {
    OutputFile file(directory.path("link"));
    file.write(bytes);
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(directory.path("link")));
    EXPECT_EQ(directory.read("d/target"), bytes);
  }
  std::filesystem::create_symlink("b", directory.path("a"));
  std::filesystem::create_symlink("a", directory.path("b"));
  expect_contains(message_of([&] { check_writable(directory.path("a")); }), {"form a circle"});
}

TEST(OutputFile, FullDisksLeaveTheOldFile) {
  Directory directory;
  directory.write("old", "old");
  const std::string large(1 << 20, 'x');
  const FileSizeLimit limit(1 << 16);
  const auto write = [&](const std::string& name) {
    return message_of([&] {
      OutputFile file(directory.path(name));
      file.write(large);
      file.commit();
    });
  };
  expect_contains(write("old"), {"cannot write", directory.path("old"), "File too large",
                                 "the old file is untouched"});
  expect_contains(write("new"), {"cannot write", "no file was left there"});
  EXPECT_EQ(directory.read("old"), "old");
  EXPECT_EQ(directory.list(), Names{"old"});
}

TEST(OutputFile, SmallWritesFailAtTheLatestInCommit) {
  OutputFile file("/dev/full");
  file.write("a few bytes stay in the buffer");
  expect_contains(message_of([&] { file.commit(); }),
                  {"cannot write /dev/full: No space left on device"});
}

TEST(OutputFile, StandardOutputErrorsAreNamed) {
  const int saved = ::dup(STDOUT_FILENO);
  const int full = ::open("/dev/full", O_WRONLY);
  ::dup2(full, STDOUT_FILENO);
  const std::string message = message_of([] {
    OutputFile file("-");
    file.write("x");
    file.commit();
  });
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(full);
  EXPECT_EQ(message, "cannot write standard output: No space left on device");
}

TEST(CheckWritable, LeavesNothingAndNamesTheTrouble) {
  Directory directory;
  check_writable("-");
  check_writable("/dev/null");
  check_writable(directory.path("new.csv"));
  EXPECT_TRUE(directory.list().empty());
  const std::string old = directory.write("old", "old");
  check_writable(old);
  EXPECT_EQ(directory.read("old"), "old");
  const auto message = [](const std::string& path) {
    return message_of([&] { check_writable(path); });
  };
  expect_contains(message(directory.path("")), {"is a directory"});
  expect_contains(message(directory.path("no/t.csv")), {"no does not exist; create it first"});
  expect_contains(message(old + "/t.csv"), {"old is not a directory"});
  expect_contains(message("/proc/t.csv"), {"no file can be created in the directory /proc"});
  expect_contains(message_of([] { check_writable(""); }, Error::Kind::usage), {"is empty"});
  if (::geteuid() == 0) return;  // root may write everywhere
  ::chmod(old.c_str(), 0400);
  expect_contains(message(old), {"exists and is not writable"});
}

const Tensor& odd_numbers() {
  static const Tensor values =
      torch::tensor({0.1, -0.0, 1e300, 5e-324, 1. / 3, 123456789.125, -1e-5, 2., 1e22, 0.3},
                    torch::kFloat64)
          .reshape({5, 2});
  return values;
}

TEST(Writer, WhatIsWrittenReadsBackToTheSameBits) {
  Directory directory;
  const Names columns = {"a b", "say \"x;y\",\n"};
  for (const std::string name : {"t.csv", "t.tsv", "t.npy", "T.CSV"}) {
    const auto writer = open_writer(directory.path(name), columns);
    writer->write(odd_numbers().narrow(0, 0, 2));
    writer->write(odd_numbers().narrow(0, 2, 0));
    writer->write(odd_numbers().narrow(0, 2, 3));
    EXPECT_FALSE(std::filesystem::exists(directory.path(name)));
    writer->finish();
    const Table table = read_table(directory.path(name));
    EXPECT_EQ(table.columns, name == "t.npy" ? (Names{"x0", "x1"}) : columns);
    EXPECT_EQ(std::memcmp(table.values.data_ptr(), odd_numbers().data_ptr(), 80), 0) << name;
  }
}

TEST(Writer, OneColumn) {
  Directory directory;
  const Tensor values = torch::tensor({1.5, std::nan(""), 3.}, torch::kFloat64).unsqueeze(1);
  for (const std::string name : {"t.csv", "t.npy"}) {
    const auto writer = open_writer(directory.path(name), {"a;b"});
    writer->write(values);
    writer->finish();
    EXPECT_TRUE(torch::allclose(read_table(directory.path(name)).values, values, 0, 0, true));
  }
  EXPECT_EQ(directory.read("t.csv"), "\"a;b\"\n1.5\nnan\n3\n");
  const std::string bytes = directory.read("t.npy");
  EXPECT_EQ(bytes,
            npy("<f8", "(3,)", bytes_of<double>({1.5, std::nan(""), 3.})).substr(0, bytes.size()));
}

TEST(Writer, WrongCallsAreRefused) {
  Directory directory;
  const auto usage = [](auto action) { return message_of(action, Error::Kind::usage); };
  expect_contains(usage([&] { open_writer(directory.path("t.xlsx"), {"a"}); }),
                  {"t.xlsx", ".csv, .tsv, .npy"});
  expect_contains(usage([&] { open_writer(directory.path("t.csv"), {}); }), {"one column"});
  expect_contains(usage([&] { open_writer(directory.path("t.csv"), {"a", "a"}); }), {"'a'"});
  const auto writer = open_writer(directory.path("t.csv"), {"a"});
  expect_contains(usage([&] {
                    writer->write(torch::zeros({2, 2}, torch::kFloat64));
                  }),
                  {"float64 of shape [n, 1]", "[2, 2]"});
  expect_contains(usage([&] { writer->write(torch::zeros({2, 1}, torch::kFloat32)); }), {"Float"});
  writer->finish();
  expect_contains(usage([&] { writer->finish(); }), {"complete"});
}

TEST(Writer, FullDisksAreDataErrors) {
  Directory directory;
  for (const std::string name : {"t.csv", "t.npy"}) {
    directory.write(name, "old");
    const FileSizeLimit limit(1000);
    expect_contains(message_of([&] {
                      const auto writer = open_writer(directory.path(name), {"a"});
                      writer->write(torch::ones({1000, 1}, torch::kFloat64));
                      writer->finish();
                    }),
                    {name, "the old file is untouched"});
    EXPECT_EQ(directory.read(name), "old");
  }
}

}  // namespace
}  // namespace dre
