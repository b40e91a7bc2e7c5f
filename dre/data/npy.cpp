#include "dre/data/npy.h"

#include <c10/util/Half.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "dre/base/error.h"
#include "dre/data/place.h"

namespace dre {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written little-endian");

constexpr size_t longest_npy_header = size_t{1} << 20;
constexpr size_t most_npy_dimensions = 32;

template <class Number>
void decode(const char* bytes, int64_t count, bool swap, double* out, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) {
    char one[sizeof(Number)];
    std::memcpy(one, bytes + i * sizeof(Number), sizeof(Number));
    if (swap) std::reverse(one, one + sizeof(Number));
    Number number;
    std::memcpy(&number, one, sizeof(Number));
    out[i * stride] = static_cast<double>(number);
  }
}

void decode_bool(const char* bytes, int64_t count, bool, double* out, int64_t stride) {
  for (int64_t i = 0; i < count; ++i) out[i * stride] = bytes[i] != 0;
}

constexpr NpyType types[] = {
    {'f', 2, decode<c10::Half>}, {'f', 4, decode<float>},    {'f', 8, decode<double>},
    {'i', 1, decode<int8_t>},    {'i', 2, decode<int16_t>},  {'i', 4, decode<int32_t>},
    {'i', 8, decode<int64_t>},   {'u', 1, decode<uint8_t>},  {'u', 2, decode<uint16_t>},
    {'u', 4, decode<uint32_t>},  {'u', 8, decode<uint64_t>}, {'b', 1, decode_bool},
};

[[noreturn]] void refuse_npy(const std::string& where, const std::string& what) {
  fail(Error::Kind::data, where, " is not a usable npy array: ", what);
}

/// Reads the Python literal {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  void parse(std::string& descr, bool& fortran, std::vector<int64_t>& shape) {
    int found = 0;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !(found & 1)) {
        found |= 1;
        descr = type_text();
      } else if (key == "fortran_order" && !(found & 2)) {
        found |= 2;
        fortran = boolean();
      } else if (key == "shape" && !(found & 4)) {
        found |= 4;
        shape = tuple();
      } else {
        bad();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (found != 7 || rest_.find_first_not_of(" \n") != std::string_view::npos) bad();
  }

 private:
  [[noreturn]] void bad() const {
    refuse_npy(where_, "its header is damaged near " + shown(rest_));
  }

  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  bool accept(char letter) {
    skip();
    if (rest_.empty() || rest_[0] != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char letter) {
    if (!accept(letter)) bad();
  }

  bool accept_word(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string quoted() {
    skip();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) bad();
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) bad();
    const std::string inside(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return inside;
  }

  std::string type_text() {
    skip();
    if (rest_.starts_with('['))
      refuse_npy(where_, "it is a structured array; save each field as an array of its own (npz)");
    return quoted();
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) bad();
    return false;
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(dimension());
      accept('L');  // Python 2 wrote 3L
      if (numbers.size() > most_npy_dimensions) refuse_npy(where_, "it has too many dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  int64_t dimension() {
    if (accept('-')) refuse_npy(where_, "its shape has a negative number");
    if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') bad();
    int64_t number = 0;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      if (__builtin_mul_overflow(number, int64_t{10}, &number) ||
          __builtin_add_overflow(number, int64_t{rest_[0] - '0'}, &number))
        refuse_npy(where_, "its shape has a number that is too large");
      rest_.remove_prefix(1);
    }
    return number;
  }

  std::string_view rest_;
  const std::string& where_;
};

const NpyType* find_type(const std::string& descr, const std::string& where) {
  const std::string_view code = std::string_view(descr).substr(std::min<size_t>(1, descr.size()));
  const bool known_order = !descr.empty() && std::strchr("<>|=", descr[0]) != nullptr;
  for (const NpyType& type : types)
    if (known_order && code == text(type.kind, type.size)) return &type;
  if (code.starts_with('O'))
    refuse_npy(where,
               "it holds Python objects, which are not loaded because they can run code; save it "
               "with a numeric dtype, as array.astype(float)");
  refuse_npy(where, text("its dtype ", shown(descr),
                         " is not read; convert it to one of f2, f4, f8, i1, "
                         "i2, i4, i8, u1, u2, u4, u8, b1, as with array.astype(float)"));
}

int64_t checked_bytes(const NpyHeader& header, const std::string& where) {
  int64_t bytes = header.type->size;
  // Dimensions of zero are left out, so that they cannot hide absurd ones.
  for (const int64_t count : header.shape)
    if (count > 0 && __builtin_mul_overflow(bytes, count, &bytes))
      refuse_npy(where, "its shape asks for more bytes than any file has");
  const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  return empty ? 0 : bytes;
}

std::string read_bytes(ByteSource& source, size_t size, const std::string& where) {
  std::string bytes(size, '\0');
  const size_t got = source.read(bytes.data(), size);
  if (got != size)
    refuse_npy(where, text("it ends in its header: ", size, " more bytes are needed, ", got,
                           " are there"));
  return bytes;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

NpyHeader read_npy_header(ByteSource& source, const std::string& where) {
  const std::string start = read_bytes(source, 8, where);
  if (!start.starts_with(npy_magic))
    refuse_npy(where, "it does not begin with the bytes \\x93NUMPY");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    refuse_npy(where, text("its version is ", version, "; versions 1 to 3 are known"));
  const size_t width = version == 1 ? 2 : 4;
  const uint64_t length = little_endian(read_bytes(source, width, where));
  if (length > longest_npy_header)
    refuse_npy(where, text("it claims a header of ", length, " bytes; it is damaged"));
  const std::string literal = read_bytes(source, length, where);
  NpyHeader header{};
  std::string descr;
  HeaderParser(literal, where).parse(descr, header.fortran, header.shape);
  header.type = find_type(descr, where);
  header.swap = descr[0] == '>';
  header.header_bytes = static_cast<int64_t>(8 + width + length);
  header.data_bytes = checked_bytes(header, where);
  return header;
}

std::string npy_header(int64_t rows, int64_t columns) {
  const std::string shape =
      columns == 1 ? text("(", rows, ",)") : text("(", rows, ", ", columns, ")");
  std::string literal = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  constexpr size_t total = 128;  // a multiple of 64 that holds two numbers of 19 digits
  const size_t length = total - 10;
  literal.resize(length - 1, ' ');
  literal += '\n';
  return std::string(npy_magic) + '\x01' + '\0' + static_cast<char>(length) + '\0' + literal;
}

}  // namespace dre
