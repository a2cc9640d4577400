// The inner loops of levels with dense weights, compiled once per instruction set (dot_isa.cpp).
#pragma once

#include <cstdint>

namespace treetop {

struct DotKernels {
    // out[r] = <state, row r>, for rows at the given places of a matrix.
    void (*of_rows)(const float *state, const float *weight, const int32_t *row, int64_t rows, int64_t width, float *out);
    // out[t * rows + r] = <state t, row r>, for neighbouring states and rows. The same bits as above.
    void (*of_block)(const float *states, int64_t texts, const float *weight, int64_t rows, int64_t width, float *out);
};

const DotKernels &dot_kernels();

}  // namespace treetop
