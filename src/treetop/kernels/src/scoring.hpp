// Scores the children of (text, parent) pairs for a block of texts: the one loop behind batch search and level scores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "chunk.hpp"
#include "level.hpp"
#include "numbering.hpp"
#include "pairs.hpp"
#include "search_kernels.hpp"

namespace treetop {

// Texts to score: a sparse block, a dense block, or both.
struct Texts {
    int64_t count = 0;
    const int64_t *start = nullptr;  // null: no sparse block
    const int32_t *feature = nullptr;
    const float *value = nullptr;
    int64_t columns = 0;  // of the sparse block
    const float *dense = nullptr;  // null: no dense block
    int64_t dims = 0;
};

// Texts [first, last).
class Block {
public:
    void use(const Texts &texts, int64_t first, int64_t last) {
        texts_ = texts;
        first_ = first;
        count_ = last - first;
        if (texts.start == nullptr) return;
        const int64_t begin = texts.start[first], end = texts.start[last];
        numbering_.use(texts.feature + begin, end - begin, texts.columns);
    }

    const Numbering &numbering() const { return numbering_; }

    int64_t count() const { return count_; }
    int64_t first() const { return first_; }

    // Its features are numbers.
    Query query(int64_t text) const {
        const int64_t at = first_ + text;
        const float *dense = texts_.dense == nullptr ? nullptr : texts_.dense + at * texts_.dims;
        if (texts_.start == nullptr) return {nullptr, nullptr, 0, dense};
        const int64_t begin = texts_.start[at];
        const int32_t *numbers = numbering_.translated() + (begin - texts_.start[first_]);
        return {numbers, texts_.value + begin, texts_.start[at + 1] - begin, dense};
    }

    int64_t longest() const {
        int64_t longest = 0;
        for (int64_t i = 0; i < count_; ++i) longest = std::max(longest, query(i).size);
        return longest;
    }

private:
    Texts texts_;
    int64_t first_ = 0;
    int64_t count_ = 0;
    Numbering numbering_;
};

// Memory of one thread, reused from block to block.
struct BlockScratch {
    Block block;
    const std::atomic<bool> *stop = nullptr;
    Chunk chunk;
    std::vector<Pair> pairs;
    std::vector<int32_t> order;
    std::vector<int64_t> counts;
    std::vector<Hit> broad;
    std::vector<Hit> narrow;
    std::vector<float> margins;
    std::vector<float> scores;
    std::vector<int32_t> positions;
};

// Texts come in no order that the processor could foresee.
inline void prefetch(const Query &query) {
    for (int64_t i = 0; i < query.size; i += 16) {
        __builtin_prefetch(query.feature + i);
        __builtin_prefetch(query.value + i);
    }
}

// Calls visit(pair index, first child, children, margins, scores) for every pair, grouped by parent. Once `stop` is set
// the result does not matter any more, and the rest is skipped.
template <typename Visit>
void score_pairs(const Level &level, Link link, bool add_path, BlockScratch &s, Visit visit) {
    const SearchKernels &kernels = search_kernels();
    s.chunk.use(level, s.block.numbering());
    s.broad.resize(static_cast<size_t>(s.block.longest()) + 1);
    s.narrow.resize(s.broad.size());
    s.margins.resize(static_cast<size_t>(level.max_children + kOverread));
    s.scores.resize(s.margins.size());
    order_by_parent(s.pairs, level.parents, s.counts, s.order);
    for (size_t i = 0; i < s.order.size(); ++i) {
        if (s.stop->load(std::memory_order_relaxed)) return;
        if (i + 1 < s.order.size()) prefetch(s.block.query(s.pairs[s.order[i + 1]].text));
        const int32_t index = s.order[i];
        const Pair &pair = s.pairs[index];
        const int64_t first = level.children_ptr[pair.parent], children = level.children_of(pair.parent);
        if (children == 0) continue;
        const Query query = s.block.query(pair.text);
        std::copy_n(level.bias + first, children, s.margins.data());
        if (query.size > 0 && level.row_ptr[pair.parent] < level.row_ptr[pair.parent + 1]) {
            s.chunk.prepare(pair.parent);
            kernels.add_sparse(level, s.chunk.index(), query, {s.broad.data(), s.narrow.data()}, s.margins.data());
        }
        if (level.dims > 0) kernels.add_dense(level, pair.parent, query.dense, s.margins.data());
        kernels.apply_link(link, add_path ? pair.above : 0.0f, children, s.margins.data(), s.scores.data());
        visit(index, first, children, s.margins.data(), s.scores.data());
    }
}

}  // namespace treetop
