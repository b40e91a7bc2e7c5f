#include "cli/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "cli/output.h"
#include "dre/base/names.h"
#include "dre/data/frame.h"
#include "dre/data/place.h"
#include "dre/data/source.h"

namespace dre::cli {
namespace {

/// The number in a text, whole where it can be; the text itself where it is none, so that the
/// check of the field refuses it by name.
nlohmann::json number_in(const std::string& given, bool whole) {
  const char *begin = given.data() + (given.starts_with('+') ? 1 : 0),
             *end = given.data() + given.size();
  int64_t integer = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, integer);
      error == std::errc() && stop == end)
    return integer;
  double number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end) return given;
  const bool fits = std::abs(number) < 0x1p63 && number == std::floor(number);
  if (whole && fits) return static_cast<int64_t>(number);  // 1e4 steps
  return number;
}

std::vector<std::string> names_in(const std::string& flag, const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const auto& list : given) {
    const auto parts = split_comma_list(list);
    check(parts.has_value(), "--", flag, ": the double quotes in ", list, " are not closed");
    names.insert(names.end(), parts->begin(), parts->end());
  }
  return names;
}

/// A flag that is spelled nearly so, or nothing.
std::string near_flag(const CLI::App& app, const std::string& given) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) flags.push_back(name);
  const std::string near =
      nearest(given.substr(std::min(given.find_first_not_of('-'), given.size())), flags);
  return near.empty() ? "" : "--" + near;
}

[[noreturn]] void refuse_extra(const CLI::App& app, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  const std::string see = text("see ", app.get_name(), " --help");
  if (!given.starts_with('-'))
    fail(Error::Kind::usage, "unexpected argument ", shown(given), "; ",
         app.get_option_no_throw("--numerator") == nullptr
             ? ""
             : "files are given as --numerator FILE --denominator FILE; ",
         see);
  const std::string near = near_flag(app, name);
  fail(Error::Kind::usage, "unknown flag ", shown(name),
       near.empty() ? "; " : text("; did you mean ", near, "? "), see);
}

/// Names of flags without the values that CLI11 shows beside their negations.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    const std::string value = "{false}";
    if (const size_t at = name.find(value); at != std::string::npos) name.erase(at, value.size());
    return name;
  }
};

}  // namespace

void Flags::add(const char* name, Kind kind, const std::string& help, const std::string& type) {
  CLI::Option* option = kind == Kind::flag ? app_.add_flag(text("--", name, ",!--no-", name), help)
                                           : app_.add_option(text("--", name), help)->expected(1);
  option->option_text(type)->group(group_of(name));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  all_.push_back({name, kind, option});
}

std::string Flags::group_of(const std::string& name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? title_ : found->second;
}

void Flags::operator()(const char* name, bool& value, const char* help) {
  add(name, Kind::flag, text(help, value ? " (yes unless --no-" : " (no unless --", name, ")"), "");
}

void Flags::operator()(const char* name, int64_t& value, Range range, const char* help) {
  add(name, Kind::whole, text(help, " (", range.describe(), ") [", value, "]"), "N");
}

void Flags::operator()(const char* name, double& value, Range range, const char* help) {
  add(name, Kind::number, text(help, " (", range.describe(), ") [", number_text(value), "]"), "X");
}

void Flags::operator()(const char* name, std::string& value, const Names& names, const char* help) {
  const std::string listed = names.empty() ? "" : text(": ", join(names));
  add(name, Kind::word, text(help, listed, value.empty() ? "" : text(" [", value, "]")),
      names.empty() ? "TEXT" : "NAME");
}

void Flags::operator()(const char* name, std::vector<std::string>&, const char* help) {
  add(name, Kind::words, help, "A,B,...");
}

nlohmann::json Flags::overrides() const {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, kind, option] : all_) {
    if (option->count() == 0) continue;
    const auto& given = option->results();
    check(given.size() == 1 || kind == Kind::words, "--", name, " is given ", given.size(),
          " times; give it once");
    if (kind == Kind::flag)
      out[name] = option->as<bool>();
    else if (kind == Kind::words)
      out[name] = names_in(name, given);
    else if (kind == Kind::word)
      out[name] = given.front();
    else
      out[name] = number_in(given.front(), kind == Kind::whole);
    check(kind != Kind::words || !out[name].empty(), "--", name,
          " is empty; leave it out, or say what it is");
  }
  return out;
}

void Flags::refuse(const Names& names, const std::string& needed) const {
  const nlohmann::json given = overrides();
  for (const auto& name : names)
    check(!given.contains(name), "--", given.value(name, nlohmann::json()) == false ? "no-" : "",
          name, " does nothing without ", needed, "; add that, or leave it out");
}

void RunFlags::add_config(CLI::App& app) {
  app.add_option("--config", config,
                 "JSON file with options as --print-config prints them; flags override it")
      ->type_name("FILE")
      ->group("Run");
  app.add_flag("--print-config", print_config, "print all options as JSON, and do nothing else")
      ->group("Run");
}

void RunFlags::add_quiet(CLI::App& app) {
  app.add_flag("--quiet", quiet, "no progress and no warnings on standard error")->group("Run");
}

void RunFlags::add_format(CLI::App& app, const Names& known) {
  formats_ = known;
  format_option_ =
      app.add_option("--format", format, text("form of the result: ", join(known), " [text]"))
          ->type_name("NAME")
          ->check([known](const std::string& given) {
            return contains(known, given)
                       ? std::string()
                       : text("must be one of ", join(known), ", got ", shown(given));
          })
          ->group("Run");
}

std::string RunFlags::format_for(const std::string& path) const {
  if (format_option_ == nullptr || format_option_->count() > 0) return format;
  for (const auto& known : formats_)
    if (has_ending(path, "." + known)) return known;
  return format;
}

bool parse(CLI::App& app, int argc, char** argv) {
  app.allow_extras();
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  app.formatter(formatter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_result(app.help());
    return true;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    fail(Error::Kind::usage, what.substr(0, what.find(':')), " needs one value, given once; see ",
         app.get_name(), " --help");
  } catch (const CLI::ParseError& error) {
    fail(Error::Kind::usage, error.what(), "; see ", app.get_name(), " --help");
  }
  if (!app.remaining().empty()) refuse_extra(app, app.remaining().front());
  return false;
}

nlohmann::json read_config(const std::string& path) {
  if (path.empty()) return nlohmann::json::object();
  InputFile file(path);
  std::string bytes, block(1 << 16, '\0');
  while (const size_t got = file.read(block.data(), block.size())) bytes.append(block, 0, got);
  try {
    std::set<std::string> names;
    const auto once = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
      if (event == nlohmann::json::parse_event_t::key && depth == 1)
        check(names.insert(parsed.get<std::string>()).second, path, ": the option ",
              shown(parsed.get<std::string>()), " is there twice; give it once");
      return true;
    };
    nlohmann::json config = nlohmann::json::parse(bytes, once);
    check(config.is_object(), path, ": the configuration must be a JSON object, {\"steps\": 100}");
    return config;
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();
    fail(Error::Kind::usage, path, " cannot be read as JSON: ", what.substr(what.find("] ") + 2));
  }
}

}  // namespace dre::cli
