// The packs of lanes (Lanes4, Lanes8, Lanes16) of the instruction set this translation unit is compiled for.
//
// A lane is one node; a pack does the same step for its nodes at once.
#pragma once

#if defined(TREETOP_ISA_avx512)
#include "train/lanes_avx512.hpp"
#elif defined(TREETOP_ISA_avx2)
#include "train/lanes_avx2.hpp"
#else
#include "train/lanes_generic.hpp"
#endif
