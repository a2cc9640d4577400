// One level of the label tree as packed by pack.cpp: views of arrays that belong to Python, mapped from a file or not.
//
// Chunk p holds the weights of the children of parent p. Its rows are the features that any of them uses, sorted;
// a row lists (child, weight) pairs, child being the position among the children of p.
#pragma once

#include <cstdint>

namespace treetop {

struct Level {
    int64_t parents = 0;
    int64_t nodes = 0;
    int64_t dims = 0;          // width of the dense block, 0 if there is none
    int64_t features = 0;      // width of the sparse block
    int64_t max_children = 0;  // of one parent
    bool wide = false;         // child positions are uint32 instead of uint16
    bool half = false;         // weights are float16 instead of float32

    const int64_t *row_ptr = nullptr;       // [parents + 1]
    const int32_t *row_feature = nullptr;   // [rows]
    const int64_t *entry_ptr = nullptr;     // [rows + 1]
    const void *entry_child = nullptr;      // [entries]
    const void *entry_value = nullptr;      // [entries]
    const float *bias = nullptr;            // [nodes], in the order of `children`
    const void *dense = nullptr;            // [nodes * dims]: chunk after chunk, each dims x its children
    const int64_t *children_ptr = nullptr;  // [parents + 1]
    const int32_t *children = nullptr;      // [nodes]: node ids of the level, label ids at the last one

    int64_t rows() const { return row_ptr[parents]; }
    int64_t entries() const { return entry_ptr[rows()]; }
    int64_t children_of(int64_t parent) const { return children_ptr[parent + 1] - children_ptr[parent]; }
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
