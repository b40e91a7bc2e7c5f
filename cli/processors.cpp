#include "cli/processors.h"

#include <ATen/Context.h>

#include "dre/base/determinism.h"
#include "dre/base/threads.h"

namespace dre::cli {

void Processors::visit(OptionVisitor& v) {
  v("threads", threads, at_least(0),
    "threads on the CPU; 0: one a core. On cores that other programs keep busy fewer are faster, "
    "or GOMP_SPINCOUNT=1000 in the environment");
  v("deterministic", deterministic,
    "the same bytes from every run with CUDA, too, which is slower; on the CPU the seed and the "
    "number of threads decide them anyway");
}

void Processors::set_up() const {
  use_threads(static_cast<int>(threads));
  if (deterministic) use_repeatable_algorithms();
}

void Processors::set_up_for_images() const {
  if (!deterministic) at::globalContext().setBenchmarkCuDNN(true);
  set_up();
}

}  // namespace dre::cli
