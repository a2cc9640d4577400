// Scores of one level for given parents: the search's loop without the search.
#include <algorithm>

#include "common/parallel.hpp"
#include "search/tree_search.hpp"

namespace treetop {
namespace {

constexpr int64_t kBlockTexts = 2048;

// Children of all shortlisted parents of a text.
int64_t candidates_of(const Level &level, const Shortlist &shortlist, int64_t text) {
    if (shortlist.start == nullptr) return level.children_of(0);
    int64_t total = 0;
    for (int64_t i = shortlist.start[text]; i < shortlist.start[text + 1]; ++i)
        total += level.children_of(shortlist.parent[i]);
    return total;
}

NodeScores allocate(const Level &level, const Shortlist &shortlist, int64_t texts, int64_t keep) {
    NodeScores result;
    result.start.assign(static_cast<size_t>(texts) + 1, 0);
    for (int64_t i = 0; i < texts; ++i) {
        const int64_t all = candidates_of(level, shortlist, i);
        result.start[i + 1] = result.start[i] + (keep > 0 ? std::min(keep, all) : all);
    }
    result.node.resize(static_cast<size_t>(result.start[texts]));
    result.score.resize(result.node.size());
    return result;
}

void take_pairs(const Shortlist &shortlist, BlockScratch &s) {
    s.pairs.clear();
    for (int64_t i = 0; i < s.block.count(); ++i) {
        const int64_t text = s.block.first() + i;
        if (shortlist.start == nullptr) s.pairs.push_back({static_cast<int32_t>(i), 0, 0.0f});
        else
            for (int64_t at = shortlist.start[text]; at < shortlist.start[text + 1]; ++at)
                s.pairs.push_back({static_cast<int32_t>(i), shortlist.parent[at],
                                   shortlist.score == nullptr ? 0.0f : shortlist.score[at]});
    }
}

struct LevelScratch : BlockScratch {
    std::vector<Candidate> pool;
    std::vector<Best> best;  // per text; holds all children if all are wanted
};

struct OfferAll {
    LevelScratch &s;

    bool hopeless(const Pair &) const { return false; }
    void announce(const Pair &pair) const { __builtin_prefetch(&s.best[pair.text]); }
    void expect(const Pair &pair) const { s.best[pair.text].prefetch(); }
    void visit(const Pair &pair, const Scored &scored) const { offer_children(scored, s.positions, s.best[pair.text]); }
};

void reset_best(const NodeScores &result, LevelScratch &s) {
    const int64_t first = result.start[s.block.first()];
    s.pool.resize(static_cast<size_t>(result.start[s.block.first() + s.block.count()] - first));
    s.best.clear();
    for (int64_t text = s.block.first(); text < s.block.first() + s.block.count(); ++text)
        s.best.emplace_back(s.pool.data() + (result.start[text] - first), result.start[text + 1] - result.start[text]);
}

void write_nodes(NodeScores &result, LevelScratch &s) {
    for (int64_t i = 0; i < s.block.count(); ++i) {
        s.best[i].sort_by_id();
        int64_t at = result.start[s.block.first() + i];
        for (const Candidate &node : s.best[i]) {
            result.node[at] = node.id;
            result.score[at++] = node.score();
        }
    }
}

}  // namespace

NodeScores score_level(SearchLevel &search_level, const Texts &texts, const Shortlist &shortlist, Link link,
                       bool add_path, int64_t keep, int threads) {
    const Level &level = search_level.level();
    NodeScores result = allocate(level, shortlist, texts.count, keep);
    const int64_t blocks = (texts.count + kBlockTexts - 1) / kBlockTexts;
    parallel_for(
        blocks, threads, [] { return LevelScratch(); },
        [&](LevelScratch &s, int64_t task, const std::atomic<bool> &stop) {
            s.stop = &stop;
            s.block.use(texts, task * kBlockTexts, std::min((task + 1) * kBlockTexts, texts.count));
            take_pairs(shortlist, s);
            reset_best(result, s);
            score_pairs(search_level, link, add_path, s, OfferAll{s});
            write_nodes(result, s);
        });
    return result;
}

}  // namespace treetop
