// Scores the children of (text, parent) pairs for a block of texts: the one loop behind batch search and level scores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "search/chunk.hpp"
#include "search/level.hpp"
#include "search/pairs.hpp"
#include "search/search_kernels.hpp"
#include "search/search_level.hpp"
#include "search/text_block.hpp"

namespace treetop {

// Memory of one thread, reused from block to block.
struct BlockScratch {
    const std::atomic<bool> *stop = nullptr;
    TextBlock block;
    Chunk chunk;
    FeatureSet group_features;
    std::vector<Pair> pairs;
    std::vector<Pair> pairs_room;
    std::vector<int64_t> counts;
    std::vector<Hit> broad;
    std::vector<Hit> narrow;
    std::vector<float> margins;
    std::vector<float> scores;
    std::vector<int32_t> positions;
};

constexpr int64_t kSeekCost = 32;  // of finding one row by bisection, in rows scanned

// What is known of the children of one parent for one text.
struct Scored {
    const Level &level;
    int64_t first;  // child
    int64_t children;
    const float *margins;
    const float *scores;
};

// Makes the chunk of a group of pairs with one parent ready. The fewer features the group has, the fewer rows of the
// chunk are looked at.
inline void prepare_chunk(const Level &level, const Pair *begin, const Pair *end, BlockScratch &s) {
    s.chunk.use_parent(begin->parent);
    int64_t features = 0;
    for (const Pair *pair = begin; pair < end && features < s.chunk.rows(); ++pair)
        features += s.block.features(pair->text);
    const auto for_group = [&](auto action) {
        for (const Pair *pair = begin; pair < end; ++pair)
            action(s.block.feature(pair->text), s.block.features(pair->text));
    };
    if (features >= s.chunk.rows()) {
        s.chunk.scan_rows(s.block.present());
    } else if (features * kSeekCost >= s.chunk.rows()) {
        s.group_features.resize(level.features);
        for_group([&](const int32_t *feature, int64_t size) { s.group_features.add(feature, size); });
        s.chunk.scan_rows(s.group_features);
        for_group([&](const int32_t *feature, int64_t size) { s.group_features.clear(feature, size); });
    } else {
        for_group([&](const int32_t *feature, int64_t size) { s.chunk.seek_rows(feature, size); });
        s.chunk.drop_doubles();
    }
    s.chunk.fill();
}

// Texts come in no order that the processor could foresee.
inline void prefetch(const Query &query) {
    for (int64_t i = 0; i < query.size; i += 16) {
        __builtin_prefetch(query.feature + i);
        __builtin_prefetch(query.value + i);
    }
}

inline Scored score_pair(const Level &level, Link link, bool add_path, const Pair &pair, BlockScratch &s) {
    const SearchKernels &kernels = search_kernels();
    const int64_t first = level.children_ptr[pair.parent], children = level.children_of(pair.parent);
    const Query query = s.block.query(pair.text);
    float *margins = s.margins.data(), *scores = s.scores.data();
    level.begin_margins(pair.parent, margins);
    if (query.size > 0) kernels.add_sparse(level, s.chunk.index(), query, {s.broad.data(), s.narrow.data()}, margins);
    level.scale_margins(pair.parent, margins);
    if (level.dims > 0) kernels.add_dense(level, pair.parent, query.dense, margins);
    kernels.apply_link(link, add_path ? pair.above : 0.0f, children, margins, scores);
    return {level, first, children, margins, scores};
}

// Scores all pairs, grouped by parent. The visitor says with hopeless(pair) which to leave out, is told with
// announce(pair) and then expect(pair) what comes soon, and takes the result with visit(pair, scored). Once `stop` is
// set the result does not matter any more, and the rest is skipped.
template <typename Visitor>
void score_pairs(SearchLevel &search_level, Link link, bool add_path, BlockScratch &s, Visitor &&visitor) {
    const Level &level = search_level.level();
    s.chunk.use(level, s.block.numbering());
    s.broad.resize(static_cast<size_t>(s.block.longest()) + 1);
    s.narrow.resize(s.broad.size());
    s.margins.resize(static_cast<size_t>(level.max_children + kOverread));
    s.scores.resize(s.margins.size());
    s.positions.resize(s.margins.size());
    order_by_parent(s.pairs, level.parents, s.counts, s.pairs_room);
    const Pair *last = s.pairs.data() + s.pairs.size();
    for (const Pair *begin = s.pairs.data(), *end = begin; begin < last; begin = end) {
        while (end < last && end->parent == begin->parent) ++end;
        if (level.children_of(begin->parent) == 0) continue;
        if (s.block.sparse()) {
            search_level.check(begin->parent);
            prepare_chunk(level, begin, end, s);
        }
        for (const Pair *pair = begin; pair < end; ++pair) {
            if (s.stop->load(std::memory_order_relaxed)) return;
            if (pair + 2 < last) {
                visitor.announce(pair[2]);
                prefetch(s.block.query(pair[1].text));
                visitor.expect(pair[1]);
            }
            if (!visitor.hopeless(*pair)) visitor.visit(*pair, score_pair(level, link, add_path, *pair, s));
        }
    }
}

}  // namespace treetop
