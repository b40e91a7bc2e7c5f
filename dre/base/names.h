/// Choice by name: one visible table a concept, and an unknown name lists the known ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dre/base/error.h"

namespace dre {

/// "a, b, c"
std::string join(const std::vector<std::string>& parts, const std::string& separator = ", ");

/// Names as a flag takes them, a,b: those with commas or quotes stand in double quotes, which are
/// doubled within.
std::string comma_list(const std::vector<std::string>& names);

/// The same for a shell, in single quotes where it needs them.
std::string shell_list(const std::vector<std::string>& names);

/// In quotes where a shell needs them.
std::string shell_word(const std::string& word);

/// Back from `comma_list`; nothing where quotes are left open.
std::optional<std::vector<std::string>> split_comma_list(const std::string& list);

bool contains(const std::vector<std::string>& all, const std::string& one);

/// The name that `given` is nearly spelled like, or of which one is the beginning of the other;
/// empty where there is none. For "did you mean".
std::string nearest(const std::string& given, const std::vector<std::string>& names);

/// A row of a table of makers: `Named<std::function<...>>` or a pointer to a function.
template <class Maker>
struct Named {
  std::string name;
  Maker make;
};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.push_back(row.name);
  return names;
}

/// The maker called `name`; a usage error that lists all names where there is none.
template <class Table>
const auto& choose(const char* kind, const Table& table, const std::string& name) {
  for (const auto& row : table)
    if (row.name == name) return row.make;
  fail(Error::Kind::usage, "unknown ", kind, " '", name, "'; known are ", join(names_of(table)));
}

}  // namespace dre
