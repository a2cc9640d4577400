// The inner loops of one-at-a-time search, compiled once per instruction set (online_isa.cpp).
//
// Nearly every access misses the first caches, so each stage asks for the memory that the next one will need.
#pragma once

#include <cstdint>

#include "search/search_kernels.hpp"
#include "search/search_level.hpp"

namespace treetop {

// The kept parents; a slot is the place of one among them.
struct Kept {
    const Directory *const *directories;  // per slot
    const int64_t *broad_from;            // per slot: entries that make a row broad
    const int64_t *children;              // per slot
    int64_t size;
};

// Rows of a chunk among which that of a feature is, if there is one.
struct RowRange {
    uint32_t first;
    uint32_t last;
};

// Memory for the hits of a text, for features x kept parents of them, and for a range per feature.
struct OnlineRoom {
    RowRange *ranges;
    Hit *found;
    Hit *broad;
    Hit *narrow;
};

struct OnlineKernels {
    // margins[slot * stride + child] += value * weight, over all sparse features of the text and all kept parents.
    void (*add_sparse)(const Level &level, const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride,
                       float *margins);
};

const OnlineKernels &online_kernels();

}  // namespace treetop
