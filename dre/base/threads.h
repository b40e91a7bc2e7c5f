/// Threads of the CPU work: one pool for everything.
///
/// OpenBLAS can come with a pool of its own, which fights with LibTorch's for the same cores. So
/// programs call use_threads at their start, and parallel code that multiplies matrices inside its
/// threads asks products_have_threads first.
#pragma once

namespace dre {

/// `count` threads for everything, 0: as many as LibTorch takes, one a core unless OMP_NUM_THREADS
/// says otherwise. An OpenBLAS with a pool of its own is told to use the calling thread only.
void use_threads(int count);

/// True where every matrix product starts threads of its own, also inside parallel code.
bool products_have_threads();

}  // namespace dre
