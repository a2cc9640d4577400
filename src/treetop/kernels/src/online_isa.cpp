// The inner loops of one-at-a-time search. Everything but the exported table has internal linkage.
#include <cstdint>

#include "child_lanes.hpp"
#include "half.hpp"
#include "online_kernels.hpp"

namespace treetop {
namespace {

constexpr int64_t kAhead = 24;  // hits between asking for a row and adding it

inline uint64_t below(uint64_t bits, int bit) { return bits & ((uint64_t{1} << bit) - 1); }

// The first posting of a group not before `id`; most features have a posting in most groups.
inline const Posting *seek(const Posting *posting, const Posting *end, uint32_t id) {
    while (end - posting > 8) {
        const Posting *middle = posting + (end - posting) / 2;
        if (middle->group < id) posting = middle + 1;
        else end = middle + 1;
    }
    while (posting < end && posting->group < id) ++posting;
    return posting;
}

// Writes the places of the rows, of all features in all kept parents, in the order of the features.
int64_t find_places(const PostedFeature *features, const Posting *postings, const RowRef *rows, const Query &query,
                    const Kept &kept, Hit *found) {
    int64_t size = 0;
    for (int64_t i = 0; i < query.size; ++i) {
        const PostedFeature &feature = features[query.feature[i]];
        const Posting *posting = postings + feature.first_posting, *end = postings + (&feature + 1)->first_posting;
        if (i + 8 < query.size) __builtin_prefetch(postings + features[query.feature[i + 8]].first_posting);
        for (const Group *group = kept.groups; group < kept.groups + kept.size; ++group) {
            posting = seek(posting, end, group->id);
            if (posting == end) break;
            if (posting->group != group->id) continue;
            const RowRef *first = rows + feature.first_row + posting->first_row;
            for (uint64_t both = posting->parents & group->parents; both != 0; both &= both - 1) {
                const int bit = __builtin_ctzll(both);
                const RowRef *place = first + __builtin_popcountll(below(posting->parents, bit));
                const int32_t slot = group->first_slot + __builtin_popcountll(below(group->parents, bit));
                __builtin_prefetch(place);
                found[size++] = {{reinterpret_cast<uint64_t>(place)}, query.value[i], slot};
            }
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
        const Hit hit{*reinterpret_cast<const RowRef *>(found[i].row.bits), found[i].value, found[i].slot};
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
        if (entries == children[hits[h].slot] && hits[h].row.first() + entries <= last_full) add_full<Value>(level, hits[h], out);
        else add_row<Child, Value>(level, hits[h], out);
    }
}

template <typename Child, typename Value>
void add_sparse_of(const Level &level, const PostedFeature *features, const Posting *postings, const RowRef *rows,
                   const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride, float *margins) {
    for (int64_t i = 0; i < query.size; ++i) __builtin_prefetch(features + query.feature[i]);
    const int64_t found = find_places(features, postings, rows, query, kept, room.found);
    const HitCounts hits = sort_hits(room.found, found, kept.broad_from, room.broad, room.narrow);
    add_hits<Child, Value>(level, room.broad, hits.broad, kept.children, stride, margins);
    add_hits<Child, Value>(level, room.narrow, hits.narrow, kept.children, stride, margins);
}

void add_sparse(const Level &level, const PostedFeature *features, const Posting *postings, const RowRef *rows,
                const Query &query, const Kept &kept, const OnlineRoom &room, int64_t stride, float *margins) {
    const auto add = level.wide ? (level.half ? add_sparse_of<uint32_t, uint16_t> : add_sparse_of<uint32_t, float>)
                                : (level.half ? add_sparse_of<uint16_t, uint16_t> : add_sparse_of<uint16_t, float>);
    add(level, features, postings, rows, query, kept, room, stride, margins);
}

}  // namespace

#define TREETOP_JOIN(a, b) a##b
#define TREETOP_NAME(isa) TREETOP_JOIN(online_kernels_, isa)
extern const OnlineKernels TREETOP_NAME(TREETOP_ISA);
const OnlineKernels TREETOP_NAME(TREETOP_ISA) = {add_sparse};

}  // namespace treetop
