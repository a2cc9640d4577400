// Scores the children of (text, parent) pairs for a block of texts: the one loop behind batch search and level scores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "feature_map.hpp"
#include "level.hpp"
#include "lookup.hpp"
#include "pairs.hpp"
#include "search_kernels.hpp"

namespace treetop {

// Texts to score: a sparse block, a dense block, or both.
struct Texts {
    int64_t count = 0;
    const int64_t *start = nullptr;  // null: no sparse block
    const int32_t *feature = nullptr;
    const float *value = nullptr;
    const float *dense = nullptr;  // null: no dense block
    int64_t dims = 0;
};

// Texts [first, last), with their features as numbered by the level in hand.
class Block {
public:
    void use(const Texts &texts, int64_t first, int64_t last) {
        texts_ = texts;
        first_ = first;
        count_ = last - first;
    }

    void translate(const FeatureMap &features) {
        start_.assign(static_cast<size_t>(count_) + 1, 0);
        if (texts_.start == nullptr) return;
        const int64_t most = texts_.start[first_ + count_] - texts_.start[first_];
        feature_.resize(static_cast<size_t>(most) + 1);
        value_.resize(static_cast<size_t>(most) + 1);
        for (int64_t i = 0, kept = 0; i < count_; ++i, start_[i] = kept) {
            const int64_t begin = texts_.start[first_ + i], end = texts_.start[first_ + i + 1];
            kept += features.translate(texts_.feature + begin, texts_.value + begin, end - begin,
                                       feature_.data() + kept, value_.data() + kept);
        }
    }

    int64_t count() const { return count_; }
    int64_t first() const { return first_; }

    Query query(int64_t text) const {
        const float *dense = texts_.dense == nullptr ? nullptr : texts_.dense + (first_ + text) * texts_.dims;
        return {feature_.data() + start_[text], value_.data() + start_[text], start_[text + 1] - start_[text], dense};
    }

    int64_t longest() const {
        int64_t longest = 0;
        for (int64_t i = 0; i < count_; ++i) longest = std::max(longest, start_[i + 1] - start_[i]);
        return longest;
    }

private:
    Texts texts_;
    int64_t first_ = 0;
    int64_t count_ = 0;
    std::vector<int64_t> start_;
    std::vector<int32_t> feature_;
    std::vector<float> value_;
};

// Memory of one thread, reused from block to block.
struct BlockScratch {
    Block block;
    const std::atomic<bool> *stop = nullptr;
    Lookup lookup;
    std::vector<Pair> pairs;
    std::vector<int32_t> order;
    std::vector<int64_t> counts;
    std::vector<Hit> hits;
    std::vector<float> margins;
    std::vector<float> scores;
    std::vector<int32_t> positions;
};

// Calls visit(pair index, first child, children, margins, scores) for every pair, grouped by parent. Once `stop` is set
// the result does not matter any more, and the rest is skipped.
template <typename Visit>
void score_pairs(const Level &level, const FeatureMap &features, Link link, bool add_path, BlockScratch &s, Visit visit) {
    const SearchKernels &kernels = search_kernels();
    s.block.translate(features);
    s.lookup.use(level, features);
    s.hits.resize(static_cast<size_t>(s.block.longest()) + 1);
    s.margins.resize(static_cast<size_t>(level.max_children) + 1);
    s.scores.resize(s.margins.size());
    order_by_parent(s.pairs, level.parents, s.counts, s.order);
    for (const int32_t index : s.order) {
        if (s.stop->load(std::memory_order_relaxed)) return;
        const Pair &pair = s.pairs[index];
        const int64_t first = level.children_ptr[pair.parent], children = level.children_of(pair.parent);
        const Query query = s.block.query(pair.text);
        std::copy_n(level.bias + first, children, s.margins.data());
        if (query.size > 0) {
            s.lookup.build(pair.parent);
            const int64_t found = kernels.find(s.lookup.bits(), query.feature, query.value, query.size,
                                               level.row_ptr[pair.parent], s.hits.data());
            kernels.add_rows(level, s.hits.data(), found, 0, s.margins.data());
        }
        if (level.dims > 0) kernels.add_dense(level, pair.parent, query.dense, s.margins.data());
        kernels.apply_link(link, add_path ? pair.above : 0.0f, children, s.margins.data(), s.scores.data());
        visit(index, first, children, s.margins.data(), s.scores.data());
    }
}

}  // namespace treetop
