// The inner loops of one-at-a-time search. Everything but the exported table has internal linkage.
#include <cstdint>

#include "common/half.hpp"
#include "search/child_vectors.hpp"
#include "search/online_kernels.hpp"

namespace treetop {
namespace {

constexpr int64_t kAhead = 24;  // hits between asking for a row and adding it

// The rows of a chunk that may belong to each feature.
void find_ranges(const Directory &directory, const Query &query, RowRange *ranges) {
    const uint32_t *start = directory.start.data();
    const int shift = directory.shift;
    for (int64_t i = 0; i < query.size; ++i) __builtin_prefetch(start + (query.feature[i] >> shift));
    for (int64_t i = 0; i < query.size; ++i) {
        const int32_t range = query.feature[i] >> shift;
        ranges[i] = {start[range], start[range + 1]};
        __builtin_prefetch(directory.feature + start[range]);
    }
}

// The first row of a range whose feature is not below the wanted one, or the end of the range.
inline uint32_t seek(const int32_t *feature, RowRange range, int32_t wanted) {
    while (range.last - range.first > 16) {
        const uint32_t middle = range.first + (range.last - range.first) / 2;
        if (feature[middle] < wanted) range.first = middle + 1;
        else range.last = middle + 1;
    }
    uint32_t below = 0;  // without a branch: where the row is cannot be foreseen
    for (uint32_t row = range.first; row < range.last; ++row) below += feature[row] < wanted;
    return range.first + below;
}

// Writes the places of the rows, of all features in all kept parents, in the order of the features for each parent.
int64_t find_places(const Query &query, const Kept &kept, RowRange *ranges, Hit *found) {
    int64_t size = 0;
    for (int64_t slot = 0; slot < kept.size; ++slot) {
        const Directory &directory = *kept.directories[slot];
        find_ranges(directory, query, ranges);
        for (int64_t i = 0; i < query.size; ++i) {
            const uint32_t row = seek(directory.feature, ranges[i], query.feature[i]);
            if (row == ranges[i].last || directory.feature[row] != query.feature[i]) continue;
            const int64_t *place = directory.entry_ptr + row;
            __builtin_prefetch(place);
            found[size++] = {{reinterpret_cast<uint64_t>(place)}, query.value[i], static_cast<int32_t>(slot)};
        }
    }
    return size;
}

struct HitCounts {
    int64_t broad;
    int64_t narrow;
};

HitCounts sort_hits(const Hit *found, int64_t size, const int64_t *broad_from, Hit *broad, Hit *narrow) {
    HitCounts counts{0, 0};
    for (int64_t i = 0; i < size; ++i) {
        const auto *entry_ptr = reinterpret_cast<const int64_t *>(found[i].row.bits);
        const RowRef row = RowRef::narrow(entry_ptr[0], entry_ptr[1] - entry_ptr[0]);
        const Hit hit{row, found[i].value, found[i].slot};
        const bool is_broad = hit.row.entries() >= broad_from[hit.slot];
        broad[counts.broad] = hit;
        narrow[counts.narrow] = hit;
        counts.broad += is_broad;
        counts.narrow += !is_broad;
    }
    return counts;
}

template <typename Child, typename Value>
inline void prefetch_row(const Level &level, const RowRef &row) {
    const char *child = reinterpret_cast<const char *>(static_cast<const Child *>(level.entry_child) + row.first());
    const char *value = reinterpret_cast<const char *>(static_cast<const Value *>(level.entry_value) + row.first());
    __builtin_prefetch(child);
    __builtin_prefetch(value);
    __builtin_prefetch(value + row.entries() * sizeof(Value));
}

template <typename Child, typename Value>
inline void add_row(const Level &level, const Hit &hit, float *margins) {
    const auto *child = static_cast<const Child *>(level.entry_child) + hit.row.first();
    const auto *weight = static_cast<const Value *>(level.entry_value) + hit.row.first();
    for (int64_t e = 0; e < hit.row.entries(); ++e) margins[child[e]] += hit.value * widen(weight[e]);
}

// In whole vectors: the stride of the margins leaves room for it, and so does the level but at its very end.
template <typename Value>
inline void add_full(const Level &level, const Hit &hit, float *margins) {
    const auto *weight = static_cast<const Value *>(level.entry_value) + hit.row.first();
    for (int64_t c = 0; c < hit.row.entries(); c += kLanes)
        store(load(margins + c) + hit.value * load(weight + c), margins + c);
}

template <typename Child, typename Value>
void add_hits(const Level &level, const Hit *hits, int64_t size, const int64_t *children, int64_t stride,
              float *margins) {
    const int64_t last_full = level.entries() - kOverread;
    for (int64_t h = 0; h < size; ++h) {
        if (h + kAhead < size) prefetch_row<Child, Value>(level, hits[h + kAhead].row);
        float *out = margins + hits[h].slot * stride;
        const int64_t entries = hits[h].row.entries();
        const bool full = entries == children[hits[h].slot] && hits[h].row.first() + entries <= last_full;
        if (full) add_full<Value>(level, hits[h], out);
        else add_row<Child, Value>(level, hits[h], out);
    }
}

template <typename Child, typename Value>
void add_sparse_of(const Level &level, const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride,
                   float *margins) {
    const int64_t found = find_places(query, kept, room.ranges, room.found);
    const HitCounts hits = sort_hits(room.found, found, kept.broad_from, room.broad, room.narrow);
    add_hits<Child, Value>(level, room.broad, hits.broad, kept.children, stride, margins);
    add_hits<Child, Value>(level, room.narrow, hits.narrow, kept.children, stride, margins);
}

void add_sparse(const Level &level, const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride,
                float *margins) {
    const auto add = level.wide ? (level.half ? add_sparse_of<uint32_t, uint16_t> : add_sparse_of<uint32_t, float>)
                                : (level.half ? add_sparse_of<uint16_t, uint16_t> : add_sparse_of<uint16_t, float>);
    add(level, query, kept, room, stride, margins);
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(online_kernels_, isa)
extern const OnlineKernels TREETOP_NAME(TREETOP_ISA);
const OnlineKernels TREETOP_NAME(TREETOP_ISA) = {add_sparse};

}  // namespace treetop
