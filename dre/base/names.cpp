#include "dre/base/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

namespace dre {
namespace {

/// Levenshtein's distance.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

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

std::string nearest(const std::string& given, const std::vector<std::string>& names) {
  constexpr size_t shortest_beginning = 3;  // "out" of "output"
  std::string best;
  size_t fewest = (given.size() + 2) / 3 + 1;
  for (const auto& name : names) {
    const bool begins = std::min(name.size(), given.size()) >= shortest_beginning &&
                        (name.starts_with(given) || given.starts_with(name));
    if (const size_t distance = begins ? 1 : edits(given, name);
        distance < fewest && distance < given.size()) {
      fewest = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace dre
