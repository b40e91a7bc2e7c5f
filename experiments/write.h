/// The result of an experiment as text, Markdown, JSON and a page.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "experiments/runner.h"

namespace dre::experiments {

/// A finished run and where it came from.
struct Written {
  std::string name;
  Description description;
  Outcome outcome;
  std::vector<std::pair<std::string, std::string>> provenance;  ///< command, machine, versions
  std::vector<std::string> failures;
};

std::string to_text(const Written& result);
std::string to_markdown(const Written& result);
Json to_json(const Written& result);
report::Page to_page(const Written& result);

}  // namespace dre::experiments
