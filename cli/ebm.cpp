/// dre ebm: energy-based models of images.
#include "cli/ebm.h"

#include <cmath>

#include "cli/actions.h"
#include "cli/command.h"
#include "dre/data/png.h"

namespace dre::cli {

void write_grid(const std::string& path, const Tensor& pixels, int64_t columns) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(pixels.size(1))));
  save_png(path, image_grid(pixels, side, columns));
}

int run_ebm(int argc, char** argv) {
  return run_action(
      "dre ebm", "energy-based models of images",
      {{"fit", fit_ebm_action}, {"eval", eval_ebm_action}, {"sample", sample_ebm_action}}, argc,
      argv);
}

}  // namespace dre::cli
