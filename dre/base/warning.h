/// Something the user should know although the work could be done.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dre {

struct Warning {
  std::string code;  ///< stable, "constant-column"; listed in the documentation
  std::string message;
};

inline nlohmann::json warnings_json(const std::vector<Warning>& warnings) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& [code, message] : warnings)
    out.push_back({{"code", code}, {"message", message}});
  return out;
}

}  // namespace dre
