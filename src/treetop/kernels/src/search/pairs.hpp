// (text, parent) pairs of a block of texts, grouped by parent so that a chunk is in the cache for all its texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace treetop {

struct Pair {
    int32_t text;  // within the block
    int32_t parent;
    float above;  // log score of the path down to the parent
};

// Orders by parent; pairs of one parent stay in their order.
inline void order_by_parent(std::vector<Pair> &pairs, int64_t parents, std::vector<int64_t> &next,
                            std::vector<Pair> &room) {
    if (static_cast<int64_t>(pairs.size()) * 4 < parents) {  // counting would cost more than sorting
        std::stable_sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) { return a.parent < b.parent; });
        return;
    }
    next.assign(static_cast<size_t>(parents) + 1, 0);
    for (const Pair &pair : pairs) ++next[pair.parent + 1];
    for (int64_t p = 0; p < parents; ++p) next[p + 1] += next[p];
    room.resize(pairs.size());
    for (const Pair &pair : pairs) room[next[pair.parent]++] = pair;
    pairs.swap(room);
}

}  // namespace treetop
