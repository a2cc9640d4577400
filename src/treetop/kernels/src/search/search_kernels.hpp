// The inner loops of the search, compiled once per instruction set (search_isa.cpp) and chosen at load time.
//
// A margin is summed in one fixed order, in float, without fused multiply-add: bias, broad rows in the order of the
// features, other rows in the order of the features, dense dimensions. So every path, thread count and instruction set
// gives the same bits.
#pragma once

#include <cstdint>

#include "search/level.hpp"
#include "search/link.hpp"

namespace treetop {

// Where the weights of a row are, in 8 bytes: a broad row is the address of one weight per child, any other row the
// number of its first entry and how many there are.
struct RowRef {
    uint64_t bits;

    static RowRef broad(const void *weights) { return {reinterpret_cast<uint64_t>(weights) | uint64_t{1} << 63}; }
    static RowRef narrow(int64_t first, int64_t entries) {
        return {static_cast<uint64_t>(first) << 24 | static_cast<uint64_t>(entries)};
    }
    bool is_broad() const { return bits >> 63; }
    const void *weights() const { return reinterpret_cast<const void *>(bits & ~(uint64_t{1} << 63)); }
    int64_t first() const { return static_cast<int64_t>(bits >> 24); }
    int64_t entries() const { return static_cast<int64_t>(bits & 0xffffff); }
};

// A feature of the text that has a row in the chunk.
struct Hit {
    RowRef row;
    float value;
    int32_t slot;  // which of the kept parents, when several are scored at once
};

// A chunk made ready for many texts.
struct ChunkIndex {
    const RowRef *table;  // by the numbers of the block's features; no bits set: no row
    int64_t children;
};

// Room for the hits of one text, as many as it has features, of each kind.
struct HitRoom {
    Hit *broad;
    Hit *narrow;
};

// Vectors may reach this far beyond a row of weights, margins or scores.
constexpr int64_t kOverread = 16;

struct SearchKernels {
    // Adds the sparse features of a text to the margins of a chunk's children.
    void (*add_sparse)(const Level &level, const ChunkIndex &chunk, const Query &query, const HitRoom &room,
                       float *margins);
    // margins[child] += sum over dims, for one parent.
    void (*add_dense)(const Level &level, int64_t parent, const float *dense, float *margins);
    // scores = link(margins) + above; margins become finite, zeros of both kinds positive. Works on whole vectors.
    void (*apply_link)(Link link, float above, int64_t size, float *margins, float *scores);
    // Positions whose score is at least `bar`; returns how many.
    int64_t (*at_least)(const float *scores, int64_t size, float bar, int32_t *positions);
};

// The best table this processor can run.
const SearchKernels &search_kernels();

}  // namespace treetop
