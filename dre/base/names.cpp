#include "dre/base/names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dre {

std::string join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string out;
  for (const auto& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string comma_list(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& name : names) {
    if (name.find_first_of(",\"") == std::string::npos) {
      parts.push_back(name);
      continue;
    }
    std::string quoted = "\"";
    for (const char letter : name) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    parts.push_back(quoted + "\"");
  }
  return join(parts, ",");
}

std::string shell_list(const std::vector<std::string>& names) {
  return shell_word(comma_list(names));
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter >= 0x80 ||
           std::string_view("_-.,:/+@%").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

std::optional<std::vector<std::string>> split_comma_list(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at < list.size(); ++at) {
    std::string name;
    if (list[at] == '"') {
      for (++at; at < list.size(); ++at) {
        if (list[at] == '"' && list.substr(at + 1, 1) != "\"") break;
        if (list[at] == '"') ++at;
        name += list[at];
      }
      if (at >= list.size()) return std::nullopt;
      ++at;
    }
    const size_t comma = std::min(list.find(',', at), list.size());
    names.push_back(name + list.substr(at, comma - at));
    at = comma;
  }
  return names;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace dre
