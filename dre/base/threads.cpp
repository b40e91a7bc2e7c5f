#include "dre/base/threads.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace dre {
namespace {

/// The library may be linked to any BLAS, so OpenBLAS is looked for while running.
template <class Function>
Function* openblas(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool has_own_pool() {
  static const auto kind = openblas<int()>("openblas_get_parallel");
  constexpr int own_threads = 1;  // 0: none, 2: OpenMP's, which knows when it is inside a thread
  return kind && kind() == own_threads;
}

}  // namespace

void use_threads(int count) {
  if (count > 0) at::set_num_threads(count);
  if (const auto set = openblas<void(int)>("openblas_set_num_threads"); set && has_own_pool())
    set(1);
}

bool products_have_threads() {
  static const auto threads = openblas<int()>("openblas_get_num_threads");
  return has_own_pool() && threads && threads() > 1;
}

}  // namespace dre
