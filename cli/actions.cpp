#include "cli/actions.h"

#include "cli/command.h"

namespace dre::cli {

int run_action(const std::string& command, const std::string& summary,
               const std::vector<Named<Action>>& actions, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const std::string names = join(names_of(actions));
  if (first == "--help" || first == "-h") {
    print_result(text(command, ": ", summary, "\n\nActions: ", names, "\n\n'", command, " ",
                      actions.front().name, " --help' lists the flags of an action.\n"));
    return exit_fine;
  }
  check(!first.empty(), "which action? ", names, "; see ", command, " --help");
  return choose("action", actions, first)(argc - 1, argv + 1);
}

void Machine::visit(OptionVisitor& v) {
  v("seed", seed, at_least(0), "decides every random draw");
  v("device", device, {"auto", "cpu", "cuda"}, "where to compute");
  processors.visit(v);
}

Context Machine::context() const {
  processors.set_up_for_images();
  return {device_by_name(device), torch::kFloat32, static_cast<uint64_t>(seed)};
}

}  // namespace dre::cli
