// One level of the label tree as packed by pack.cpp: views of arrays that belong to Python, mapped from a file or not.
//
// Chunk p holds the weights of the children of parent p. Its rows are the features that any of them uses, sorted;
// a row lists (child, weight) pairs, child being the position among the children of p.
//
// Numbers are as narrow as the level allows. Features of 16 bits are cut into pages of 65,536, and the rows of a chunk
// into as many parts. Offsets of 16 bits are what remains of an offset modulo 65,536: `entry_turn` has the rows at which
// they begin anew. Models of earlier versions have 32 and 64 bits, one page and no turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace treetop {

constexpr int kPageBits = 16;
inline constexpr int64_t kNoTurns[] = {std::numeric_limits<int64_t>::max()};

struct Level {
    int64_t parents = 0;
    int64_t nodes = 0;
    int64_t dims = 0;          // width of the dense block, 0 if there is none
    int64_t features = 0;      // width of the sparse block
    int64_t max_children = 0;  // of one parent
    int64_t pages = 1;         // of features
    int64_t entries = 0;
    int feature_bits = 32;     // or 16
    int offset_bits = 64;      // or 16
    int child_bits = 16;       // or 8 or 32
    int value_bits = 32;       // float32; or 16: float16; or 8: int8, to be multiplied by `scale`

    const int64_t *row_ptr = nullptr;       // [parents * pages + 1]
    const void *row_feature = nullptr;      // [rows]
    const void *entry_ptr = nullptr;        // [rows + 1]
    const int64_t *entry_turn = kNoTurns;   // [entries / 65536 + 1]: rising, the last one beyond all rows
    int64_t turns = 1;
    const void *entry_child = nullptr;      // [entries]
    const void *entry_value = nullptr;      // [entries]
    const float *scale = nullptr;           // [nodes], if weights are int8
    const float *bias = nullptr;            // [nodes], in the order of `children`
    const void *dense = nullptr;            // [nodes * dims]: chunk after chunk, each dims x its children
    bool dense_half = false;                // float16 instead of float32
    const int64_t *children_ptr = nullptr;  // [parents + 1]
    const int32_t *children = nullptr;      // [nodes]: node ids of the level, label ids at the last one

    int64_t rows() const { return row_ptr[parents * pages]; }
    int64_t first_row(int64_t parent) const { return row_ptr[parent * pages]; }
    int64_t rows_of(int64_t parent) const { return first_row(parent + 1) - first_row(parent); }
    int64_t children_of(int64_t parent) const { return children_ptr[parent + 1] - children_ptr[parent]; }

    // Margins begin at the bias. Those of int8 weights are summed first and scaled at once.
    void begin_margins(int64_t parent, float *margins) const {
        if (scale != nullptr) std::fill_n(margins, children_of(parent), 0.0f);
        else std::copy_n(bias + children_ptr[parent], children_of(parent), margins);
    }
    void scale_margins(int64_t parent, float *margins) const {
        if (scale == nullptr) return;
        const int64_t first = children_ptr[parent], children = children_of(parent);
        for (int64_t c = 0; c < children; ++c) margins[c] = bias[first + c] + scale[first + c] * margins[c];
    }
};

// A row used by many of the children is broad; if most use it, pack.cpp stores it in full, zeros included. Margins are
// summed over the broad rows first, then over the others, so that the broad ones can be added as whole vectors.
constexpr int64_t kMostSpread = 1024;  // children; with more, only a full row is broad

inline int64_t broad_from(int64_t children) { return children <= kMostSpread ? (children + 7) / 8 : children; }
inline bool is_broad(int64_t entries, int64_t children) { return entries >= broad_from(children); }
inline bool is_stored_in_full(int64_t entries, int64_t children) {
    return entries == children || (children <= kMostSpread && 2 * entries >= children);
}

// The features of one text: sorted columns, and the dense row if the level has a dense block.
struct Query {
    const int32_t *feature;
    const float *value;
    int64_t size;
    const float *dense;
};

}  // namespace treetop
