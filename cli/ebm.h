/// The actions of dre ebm, and how they show images.
#pragma once

#include <string>

#include "dre/base/context.h"

namespace dre::cli {

int fit_ebm_action(int argc, char** argv);
int eval_ebm_action(int argc, char** argv);
int sample_ebm_action(int argc, char** argv);

/// Square images, [n, pixels], as one picture.
void write_grid(const std::string& path, const Tensor& pixels, int64_t columns);

}  // namespace dre::cli
