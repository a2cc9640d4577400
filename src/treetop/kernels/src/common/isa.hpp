// Which instruction set the hot kernels use: chosen once, when first asked for.
//
// The best one the processor has, unless the environment variable TREETOP_ISA names another (generic, avx2, avx512).
#pragma once

namespace treetop {

enum class Isa { generic, avx2, avx512 };

// Throws std::invalid_argument if TREETOP_ISA names something unknown or something this processor lacks.
Isa chosen_isa();
const char *name_of(Isa isa);

}  // namespace treetop
