#include "dre/base/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace dre {

void use_threads(int count) {
  if (count > 0) at::set_num_threads(count);
  // The library may be linked to any BLAS, so its functions are looked for while running.
  constexpr int own_threads = 1;
  const auto kind = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_parallel"));
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (kind && set && kind() == own_threads) set(1);
}

}  // namespace dre
