// (text, parent) pairs of a block of texts, visited parent by parent so that a chunk is in the cache for all its texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace treetop {

struct Pair {
    int32_t text;  // within the block
    int32_t parent;
    float above;  // log score of the path down to the parent
};

// Positions of the pairs ordered by parent, pairs of one parent in their given order.
inline void order_by_parent(const std::vector<Pair> &pairs, int64_t parents, std::vector<int64_t> &counts,
                            std::vector<int32_t> &order) {
    order.resize(pairs.size());
    if (static_cast<int64_t>(pairs.size()) * 4 < parents) {  // counting would cost more than sorting
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int32_t a, int32_t b) { return pairs[a].parent < pairs[b].parent; });
        return;
    }
    counts.assign(static_cast<size_t>(parents) + 1, 0);
    for (const Pair &pair : pairs) ++counts[pair.parent + 1];
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    for (size_t i = 0; i < pairs.size(); ++i) order[counts[pairs[i].parent]++] = static_cast<int32_t>(i);
}

}  // namespace treetop
