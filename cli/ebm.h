/// The actions of dre ebm, and how they show figures and images.
#pragma once

#include <string>

#include "dre/apps/energy_evaluate.h"

namespace dre::cli {

int fit_ebm_action(int argc, char** argv);
int eval_ebm_action(int argc, char** argv);
int sample_ebm_action(int argc, char** argv);

/// "1.024 ± 0.002"
std::string bits_text(const Bits& bits);

/// Square images, [n, pixels], as one picture.
void write_grid(const std::string& path, const Tensor& pixels, int64_t columns);

}  // namespace dre::cli
