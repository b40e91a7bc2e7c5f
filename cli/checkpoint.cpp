#include "cli/checkpoint.h"

#include <filesystem>
#include <utility>

#include "dre/base/error.h"
#include "dre/base/names.h"
#include "dre/base/version.h"

namespace dre::cli {
namespace {

const char* const metadata_name = "dre-checkpoint";

void check_same_options(const std::string& path, const nlohmann::json& saved,
                        const nlohmann::json& now) {
  for (const auto& [name, value] : now.items()) {
    check_data(saved.contains(name), path, " was written by another build, which did not keep --",
               name, "; start anew without --resume");
    check(saved[name] == value, path, " belongs to a fit with --", name, " ", saved[name].dump(),
          ", this one has ", value.dump(),
          "; give the same options, or start anew without "
          "--resume");
  }
}

/// What is added to the names of files that the n-th of several fits has set aside.
std::string aside_ending(int n) { return n == 1 ? ".before" : text(".before", n); }

}  // namespace

bool is_checkpoint(const TensorFile& file) { return file.metadata.count(metadata_name) > 0; }

CheckpointFile::CheckpointFile(const std::string& model_path, nlohmann::json options,
                               nlohmann::json data, const std::vector<std::string>& companions)
    : model_(model_path),
      path_(model_path + ".checkpoint"),
      files_({path_}),
      options_(std::move(options)),
      data_(std::move(data)) {
  files_.insert(files_.end(), companions.begin(), companions.end());
}

bool CheckpointFile::exists() const { return std::filesystem::exists(path_); }

void CheckpointFile::save(const NamedTensors& state) {
  const nlohmann::json json = {{"dre_version", version()}, {"options", options_}, {"data", data_}};
  save_safetensors(path_, {state, {{metadata_name, json.dump()}}});
}

NamedTensors CheckpointFile::start(bool resume, Progress& progress) const {
  if (resume && exists()) return load();
  const std::string before = path_ + aside_ending(1);
  check(!resume || !std::filesystem::exists(before), "there is no ", path_, ", but ", before,
        " of an earlier fit; rename it to ", path_,
        " to go on from it, or start anew without --resume");
  check(!resume || !std::filesystem::exists(model_), "there is no ", path_, " to go on from, but ",
        model_,
        ", as after a finished fit; start anew without --resume, which replaces it when "
        "the new fit is finished");
  const bool unfinished = exists();
  const std::vector<std::string> aside = set_aside();
  if (resume)
    progress.warn("no-checkpoint",
                  text("there is no ", path_, "; the fit starts from the beginning"));
  else if (unfinished)
    progress.warn("old-checkpoint",
                  text("what an unfinished fit left is now in ", join(aside),
                       "; to go on from it, take the last ending off and give --resume; it is "
                       "removed when this fit is finished"));
  return {};
}

std::vector<std::string> CheckpointFile::existing(const std::string& ending) const {
  std::vector<std::string> found;
  for (const std::string& file : files_)
    if (std::filesystem::exists(file + ending)) found.push_back(file);
  return found;
}

/// Files that go together get the same ending, one that none has yet. -> their new names
std::vector<std::string> CheckpointFile::set_aside() const {
  int n = 1;
  while (!existing(aside_ending(n)).empty()) ++n;
  std::vector<std::string> names;
  for (const std::string& file : existing("")) {
    names.push_back(file + aside_ending(n));
    std::error_code error;
    std::filesystem::rename(file, names.back(), error);
    check_data(!error, "cannot rename ", file, " to ", names.back(), ": ", error.message());
  }
  return names;
}

NamedTensors CheckpointFile::load() const {
  const TensorFile file = load_safetensors(path_);
  check_data(is_checkpoint(file), path_, " is not a checkpoint of dre");
  const auto json = nlohmann::json::parse(file.metadata.at(metadata_name), nullptr, false);
  check_data(json.is_object() && json.contains("options") && json.contains("data"), path_,
             " is damaged: its metadata cannot be read");
  check_data(json.value("dre_version", "") == version(), path_,
             " was written by another version of dre; start anew without --resume");
  check_same_options(path_, json["options"], options_);
  check_data(json["data"] == data_, path_,
             " belongs to a fit of other data; give the same files, or start anew without "
             "--resume");
  return file.tensors;
}

void CheckpointFile::remove() const {
  std::error_code ignored;  // the fit is done; a file that stays does no harm
  std::filesystem::remove(path_, ignored);
  for (int n = 1; !existing(aside_ending(n)).empty(); ++n)
    for (const std::string& file : existing(aside_ending(n)))
      if (!std::filesystem::remove(file + aside_ending(n), ignored)) return;
}

std::string CheckpointFile::where_it_stands() const {
  return text("the state is in ", path_, "; the same command with --resume goes on from it");
}

}  // namespace dre::cli
