/// The flags that say how processors are used, the same for every command that computes.
#pragma once

#include "dre/base/options.h"

namespace dre::cli {

struct Processors {
  int64_t threads = 0;
  bool deterministic = false;

  void visit(OptionVisitor& v);

  /// To be called before the first computation.
  void set_up() const;

  /// For networks on images, too: cuDNN may search for the fastest algorithm of a convolution when
  /// it meets a shape first, which pays where shapes repeat from step to step.
  void set_up_for_images() const;
};

}  // namespace dre::cli
