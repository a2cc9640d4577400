// The inner loops of the search, compiled once per instruction set (search_isa.cpp) and chosen at load time.
//
// A margin is summed in one fixed order, in float, without fused multiply-add: bias, then the sparse features as they
// come, then the dense dimensions. So every path, thread count and instruction set gives the same bits.
#pragma once

#include <cstdint>

#include "level.hpp"
#include "link.hpp"

namespace treetop {

// 64 features of a chunk: which of them have a row, and how many rows come before.
struct RowBits {
    uint64_t present;
    uint64_t before;
};

// A feature of the text that has a row in the chunk.
struct Hit {
    int64_t row;  // of the level
    float value;
    int32_t slot;  // which of the kept parents; used when several are scored at once
};

struct SearchKernels {
    // Hits of a text's features in a chunk whose first row is `first_row`; returns how many.
    int64_t (*find)(const RowBits *bits, const int32_t *feature, const float *value, int64_t size, int64_t first_row,
                    Hit *hits);
    // margins[hit.slot * stride + child] += hit.value * weight, for all hits in order.
    void (*add_rows)(const Level &level, const Hit *hits, int64_t size, int64_t stride, float *margins);
    // margins[child] += sum over dims, for one parent.
    void (*add_dense)(const Level &level, int64_t parent, const float *dense, float *margins);
    // scores = link(margins) + above; margins become finite, zeros of both kinds positive.
    void (*apply_link)(Link link, float above, int64_t size, float *margins, float *scores);
    // Positions whose score is at least `bar`; returns how many.
    int64_t (*at_least)(const float *scores, int64_t size, float bar, int32_t *positions);
};

// The best table this processor can run.
const SearchKernels &search_kernels();

}  // namespace treetop
