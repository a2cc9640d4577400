// The inner loops of the search. Everything but the exported table has internal linkage: the linker must never mix
// the code of two instruction sets.
#include <cstdint>
#include <utility>

#include "common/half.hpp"
#include "search/child_vectors.hpp"
#include "search/link_vectors.hpp"
#include "search/rows.hpp"
#include "search/search_kernels.hpp"

namespace treetop {
namespace {

constexpr int kMostTile = 12;  // vectors of margins in registers, of the 16 there are

// margins += sum of value * weights over the broad hits, for some vectors of children from `offset` on. The margins
// stay in registers; lanes beyond the last child hold rubbish that nobody reads.
template <typename Value, size_t... I>
void add_broad_tile(std::index_sequence<I...>, const Hit *hits, int64_t size, int64_t offset, float *margins) {
    // Constant indices, written out by the fold: the compiler keeps the sums in registers.
    Lanes sum[] = {load(margins + offset + I * kLanes)...};
    for (int64_t h = 0; h < size; ++h) {
        const auto *weights = static_cast<const Value *>(hits[h].row.weights()) + offset;
        const float value = hits[h].value;
        ((sum[I] += value * load(weights + I * kLanes)), ...);
    }
    (store(sum[I], margins + offset + I * kLanes), ...);
}

template <typename Value, int Count = kMostTile>
void add_broad_tiles(int64_t count, const Hit *hits, int64_t size, int64_t offset, float *margins) {
    if constexpr (Count > 0) {
        if (count != Count) return add_broad_tiles<Value, Count - 1>(count, hits, size, offset, margins);
        add_broad_tile<Value>(std::make_index_sequence<Count>(), hits, size, offset, margins);
    }
}

// Tiles of about equal size, as few as the registers allow.
template <typename Value>
void add_broad(const Hit *hits, int64_t size, int64_t children, float *margins) {
    if (size == 0) return;
    const int64_t vectors = (children + kLanes - 1) / kLanes;
    const int64_t tiles = (vectors + kMostTile - 1) / kMostTile;
    for (int64_t tile = 0, done = 0; tile < tiles; ++tile) {
        const int64_t count = (vectors - done + tiles - tile - 1) / (tiles - tile);
        add_broad_tiles<Value>(count, hits, size, done * kLanes, margins);
        done += count;
    }
}

template <typename Child, typename Value>
inline void add_narrow(const Level &level, const Hit &hit, float *margins) {
    const auto *child = static_cast<const Child *>(level.entry_child) + hit.row.first();
    const auto *weight = static_cast<const Value *>(level.entry_value) + hit.row.first();
    const int64_t entries = hit.row.entries();
    for (int64_t e = 0; e < entries; ++e) margins[child[e]] += hit.value * widen(weight[e]);
}

struct HitCounts {
    int64_t broad;
    int64_t narrow;
};

// Without a branch: each feature is written to both lists, and stays in the right one, if any.
HitCounts find(const ChunkIndex &chunk, const Query &query, const HitRoom &room) {
    int64_t broad = 0, narrow = 0;
    for (int64_t i = 0; i < query.size; ++i) {
        const Hit hit{chunk.table[query.feature[i]], query.value[i], 0};
        const int64_t is_broad = hit.row.is_broad();
        room.broad[broad] = hit;
        room.narrow[narrow] = hit;
        broad += is_broad;
        narrow += hit.row.bits != 0 && !is_broad;
    }
    return {broad, narrow};
}

template <typename Child, typename Value>
void add_sparse_of(const Level &level, const ChunkIndex &chunk, const Query &query, const HitRoom &room,
                   float *margins) {
    const HitCounts found = find(chunk, query, room);
    add_broad<Value>(room.broad, found.broad, chunk.children, margins);
    for (int64_t h = 0; h < found.narrow; ++h) add_narrow<Child, Value>(level, room.narrow[h], margins);
}

void add_sparse(const Level &level, const ChunkIndex &chunk, const Query &query, const HitRoom &room, float *margins) {
    with_entries(level, [&](auto child, auto value) {
        add_sparse_of<decltype(child), decltype(value)>(level, chunk, query, room, margins);
    });
}

// The children are the lanes, so each margin is summed over the dimensions in order.
template <typename Value>
void add_dense_of(const Value *weight, int64_t dims, int64_t children, const float *dense, float *margins) {
    for (int64_t d = 0; d < dims; ++d, weight += children)
        for (int64_t c = 0; c < children; ++c) margins[c] += dense[d] * widen(weight[c]);
}

void add_dense(const Level &level, int64_t parent, const float *dense, float *margins) {
    const int64_t first = level.children_ptr[parent] * level.dims;
    const int64_t children = level.children_of(parent);
    if (level.dense_half)
        add_dense_of(static_cast<const uint16_t *>(level.dense) + first, level.dims, children, dense, margins);
    else
        add_dense_of(static_cast<const float *>(level.dense) + first, level.dims, children, dense, margins);
}

template <typename Function>
void apply(float above, int64_t size, float *margins, float *scores) {
    for (int64_t i = 0; i < size; i += kLanes) {
        const Lanes margin = finite(load(margins + i));
        store(margin, margins + i);
        store((Function::log(margin) + above) + 0.0f, scores + i);
    }
}

void apply_link(Link link, float above, int64_t size, float *margins, float *scores) {
    switch (link) {
        case Link::noop: return apply<Noop>(above, size, margins, scores);
        case Link::hinge1: return apply<Hinge<1>>(above, size, margins, scores);
        case Link::hinge2: return apply<Hinge<2>>(above, size, margins, scores);
        case Link::hinge3: return apply<Hinge<3>>(above, size, margins, scores);
        case Link::hinge4: return apply<Hinge<4>>(above, size, margins, scores);
        case Link::sigmoid: return apply<Sigmoid>(above, size, margins, scores);
    }
}

int64_t at_least(const float *scores, int64_t size, float bar, int32_t *positions) {
    int64_t found = 0;
    for (int64_t i = 0; i < size; ++i) {
        positions[found] = static_cast<int32_t>(i);
        found += scores[i] >= bar;
    }
    return found;
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(search_kernels_, isa)
extern const SearchKernels TREETOP_NAME(TREETOP_ISA);
const SearchKernels TREETOP_NAME(TREETOP_ISA) = {add_sparse, add_dense, apply_link, at_least};

}  // namespace treetop
