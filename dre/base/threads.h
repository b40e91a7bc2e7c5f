/// How many threads the CPU work uses.
#pragma once

namespace dre {

/// `count` threads for everything, 0: one a core. Call it once at the start of a program. An
/// OpenBLAS with a thread pool of its own is told to use the calling thread only: two pools on the
/// same cores slow each other down, and dense_stack keeps all cores busy by itself.
void use_threads(int count);

}  // namespace dre
