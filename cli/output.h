/// Results on standard output.
#pragma once

#include <string>

namespace dre::cli {

/// A full disk or a closed output is an error, not silence.
void print_result(const std::string& text);

/// To a file, written aside and renamed; "-" is standard output.
void write_result(const std::string& path, const std::string& text);

/// "0.512 +- 0.034" with as many digits as the error leaves sense in.
std::string with_error(double value, double standard_error);

/// Four significant digits.
std::string short_number(double value);

}  // namespace dre::cli
