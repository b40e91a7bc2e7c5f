/// Bytes as text (RFC 4648): how a page carries its pictures.
#pragma once

#include <string>
#include <string_view>

namespace dre::report {

std::string base64(std::string_view bytes);

}  // namespace dre::report
