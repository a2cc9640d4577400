// The inner loops of one-at-a-time search. Everything but the exported table has internal linkage.
#include <cstdint>
#include <utility>

#include "common/half.hpp"
#include "search/child_vectors.hpp"
#include "search/online_kernels.hpp"
#include "search/rows.hpp"

namespace treetop {
namespace {

constexpr int64_t kAhead = 24;  // hits between asking for a row and adding it

// The rows of a chunk that may belong to each feature.
template <typename Feature>
void find_ranges(const Directory &directory, const Feature *feature, const Query &query, RowRange *ranges) {
    const uint32_t *start = directory.start.data();
    const int shift = directory.shift;
    for (int64_t i = 0; i < query.size; ++i) __builtin_prefetch(start + (query.feature[i] >> shift));
    for (int64_t i = 0; i < query.size; ++i) {
        const int32_t range = query.feature[i] >> shift;
        ranges[i] = {start[range], start[range + 1]};
        __builtin_prefetch(feature + start[range]);
    }
}

// The first row of a range whose feature is not below the wanted one, or the end of the range.
template <typename Feature>
inline uint32_t seek(const Feature *feature, RowRange range, Feature wanted) {
    while (range.last - range.first > 16) {
        const uint32_t middle = range.first + (range.last - range.first) / 2;
        if (feature[middle] < wanted) range.first = middle + 1;
        else range.last = middle + 1;
    }
    uint32_t below = 0;  // without a branch: where the row is cannot be foreseen
    for (uint32_t row = range.first; row < range.last; ++row) below += feature[row] < wanted;
    return range.first + below;
}

// A row that was found, with how often the offsets have begun anew up to it, as the bits of a hit.
constexpr int kRowBits = 40;
inline uint64_t place(int64_t row, int64_t turns) { return static_cast<uint64_t>(turns) << kRowBits | row; }
inline int64_t row_at(uint64_t place) { return static_cast<int64_t>(place & ((uint64_t{1} << kRowBits) - 1)); }
inline int64_t turns_at(uint64_t place) { return static_cast<int64_t>(place >> kRowBits); }

// Writes the places of the rows, of all features in all kept parents, in the order of the features for each parent.
template <typename Feature, typename Offset>
int64_t find_places(const Level &level, const Query &query, const Kept &kept, RowRange *ranges, Hit *found) {
    const auto *offset = static_cast<const Offset *>(level.entry_ptr);
    int64_t size = 0;
    for (int64_t slot = 0; slot < kept.size; ++slot) {
        const Directory &directory = *kept.directories[slot];
        const Feature *feature = static_cast<const Feature *>(level.row_feature) + directory.first_row;
        Turns turns(level, directory.first_row, directory.turns);
        find_ranges(directory, feature, query, ranges);
        for (int64_t i = 0; i < query.size; ++i) {
            const auto wanted = static_cast<Feature>(query.feature[i]);
            const uint32_t at = seek(feature, ranges[i], wanted);
            if (at == ranges[i].last || feature[at] != wanted) continue;
            const int64_t row = directory.first_row + at;
            __builtin_prefetch(offset + row);
            found[size++] = {{place(row, turns.up_to(row))}, query.value[i], static_cast<int32_t>(slot)};
        }
    }
    return size;
}

struct HitCounts {
    int64_t broad;
    int64_t narrow;
};

template <typename Offset>
HitCounts sort_hits(const Level &level, const Hit *found, int64_t size, const int64_t *broad_from, Hit *broad,
                    Hit *narrow) {
    HitCounts counts{0, 0};
    for (int64_t i = 0; i < size; ++i) {
        const uint64_t place = found[i].row.bits;
        const EntryRange entries = entries_of<Offset>(level, row_at(place), turns_at(place));
        const Hit hit{RowRef::narrow(entries.first, entries.size), found[i].value, found[i].slot};
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
    const int64_t last_full = level.entries - kOverread;
    for (int64_t h = 0; h < size; ++h) {
        if (h + kAhead < size) prefetch_row<Child, Value>(level, hits[h + kAhead].row);
        float *out = margins + hits[h].slot * stride;
        const int64_t entries = hits[h].row.entries();
        const bool full = entries == children[hits[h].slot] && hits[h].row.first() + entries <= last_full;
        if (full) add_full<Value>(level, hits[h], out);
        else add_row<Child, Value>(level, hits[h], out);
    }
}

void add_sparse(const Level &level, const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride,
                float *margins) {
    const HitCounts hits = with_offsets(level, [&](auto offset) {
        using Offset = decltype(offset);
        const int64_t found = with_features(level, [&](auto feature) {
            return find_places<decltype(feature), Offset>(level, query, kept, room.ranges, room.found);
        });
        return sort_hits<Offset>(level, room.found, found, kept.broad_from, room.broad, room.narrow);
    });
    with_entries(level, [&](auto child, auto value) {
        for (const auto &[hit, size] : {std::pair{room.broad, hits.broad}, std::pair{room.narrow, hits.narrow}})
            add_hits<decltype(child), decltype(value)>(level, hit, size, kept.children, stride, margins);
    });
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(online_kernels_, isa)
extern const OnlineKernels TREETOP_NAME(TREETOP_ISA);
const OnlineKernels TREETOP_NAME(TREETOP_ISA) = {add_sparse};

}  // namespace treetop
