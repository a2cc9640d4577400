// The inner loops of one-at-a-time search, compiled once per instruction set (online_isa.cpp).
//
// Nearly every access misses the first caches, so each stage asks for the memory that the next one will need.
#pragma once

#include <cstdint>

#include "postings.hpp"
#include "search_kernels.hpp"

namespace treetop {

// The kept parents that fall into one group of 64.
struct Group {
    uint32_t id;
    int32_t first_slot;  // slots count the kept parents in the order of their ids
    uint64_t parents;
};

struct Kept {
    const Group *groups;
    int64_t size;
    const int64_t *broad_from;  // per slot: entries that make a row broad
    const int64_t *children;    // per slot
};

// Memory for the hits of a text, for features x kept parents of them.
struct OnlineRoom {
    Hit *found;
    Hit *broad;
    Hit *narrow;
};

struct OnlineKernels {
    // margins[slot * stride + child] += value * weight, over all sparse features of the text and all kept parents.
    void (*add_sparse)(const Level &level, const PostedFeature *features, const Posting *postings, const RowRef *rows,
                       const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride, float *margins);
};

const OnlineKernels &online_kernels();

}  // namespace treetop
