/// The same bytes from every run on one machine.
///
/// On the CPU the same seed and number of threads already give them. With CUDA some of the fastest
/// algorithms add in whatever order the hardware finishes; a program that must repeat itself there
/// gives those up.
#pragma once

namespace dre {

/// Only algorithms that repeat themselves to the bit from here on; an operation that has none is an
/// error. Call it before the first computation: cuBLAS reads its setting once.
void use_repeatable_algorithms();

}  // namespace dre
