/// Model files: an estimator as safetensors with JSON metadata. No code in them, so they are safe
/// to load.
#pragma once

#include <string>

#include "dre/ratio/estimator.h"

namespace dre {

/// Written aside and renamed: an interrupted save leaves the old file or the new one.
void save_model(const std::string& path, const Estimator& estimator);

/// A damaged, truncated or foreign file is a data error that says what is wrong with it.
/// The context says where the estimator will work; the file knows everything else.
Estimator load_model(const std::string& path, const Context& context = {});

}  // namespace dre
