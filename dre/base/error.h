/// Errors: what happened, what was given, what to do about it.
#pragma once

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>

namespace dre {

/// Pieces of any printable type, written one after the other, in any locale alike.
template <class... Pieces>
std::string text(const Pieces&... pieces) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << pieces);
  return out.str();
}

/// Misuse or bad input, in one line that a user can act on.
/// Numerical trouble is not an exception: it is a status in the result.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    internal,   ///< a defect of this library
    usage,      ///< options or calls that cannot be meant
    data,       ///< a file or table that cannot be used
    numerical,  ///< no usable result could be computed
  };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

template <class... Pieces>
[[noreturn]] void fail(Error::Kind kind, const Pieces&... pieces) {
  throw Error(kind, text(pieces...));
}

/// Throws a usage error unless `condition` holds: the check at the door of a public function.
template <class... Pieces>
void check(bool condition, const Pieces&... pieces) {
  if (!condition) fail(Error::Kind::usage, pieces...);
}

/// Throws a data error unless `condition` holds.
template <class... Pieces>
void check_data(bool condition, const Pieces&... pieces) {
  if (!condition) fail(Error::Kind::data, pieces...);
}

}  // namespace dre
