// Scores of one level for given parents: the search's loop without the search.
#include <algorithm>

#include "common/parallel.hpp"
#include "search/tree_search.hpp"

namespace treetop {
namespace {

constexpr int64_t kBlockTexts = 2048;

// Of each parent, how many children may be looked at.
std::vector<int64_t> count_open(const Level &level, Mask open) {
    std::vector<int64_t> counts(static_cast<size_t>(level.parents));
    for (int64_t parent = 0; parent < level.parents; ++parent) {
        const int32_t *first = level.children + level.children_ptr[parent], *last = first + level.children_of(parent);
        counts[parent] = open == nullptr ? last - first : std::count_if(first, last, [&](int32_t n) { return open[n]; });
    }
    return counts;
}

// Open children of all shortlisted parents of a text.
int64_t shortlisted_nodes(const std::vector<int64_t> &open_children, const Shortlist &shortlist, int64_t text) {
    if (shortlist.start == nullptr) return open_children[0];
    int64_t total = 0;
    for (int64_t i = shortlist.start[text]; i < shortlist.start[text + 1]; ++i)
        total += open_children[shortlist.parent[i]];
    return total;
}

NodeScores allocate(const std::vector<int64_t> &open_children, const Shortlist &shortlist, int64_t texts,
                    int64_t keep) {
    NodeScores result;
    result.start.assign(static_cast<size_t>(texts) + 1, 0);
    for (int64_t i = 0; i < texts; ++i) {
        const int64_t all = shortlisted_nodes(open_children, shortlist, i);
        result.start[i + 1] = result.start[i] + (keep > 0 ? std::min(keep, all) : all);
    }
    result.node.resize(static_cast<size_t>(result.start[texts]));
    result.score.resize(result.node.size());
    return result;
}

// Of the shortlisted parents those with open children.
void take_pairs(const Shortlist &shortlist, const std::vector<int64_t> &open_children, BlockScratch &s) {
    s.pairs.clear();
    const auto take = [&](int64_t text, int32_t parent, float above) {
        if (open_children[parent] > 0) s.pairs.push_back({static_cast<int32_t>(text), parent, above});
    };
    for (int64_t i = 0; i < s.block.count(); ++i) {
        const int64_t text = s.block.first() + i;
        if (shortlist.start == nullptr) take(i, 0, 0.0f);
        else
            for (int64_t at = shortlist.start[text]; at < shortlist.start[text + 1]; ++at)
                take(i, shortlist.parent[at], shortlist.score == nullptr ? 0.0f : shortlist.score[at]);
    }
}

struct LevelScratch : BlockScratch {
    std::vector<Candidate> pool;
    std::vector<Best> best;  // per text; holds all children if all are wanted
};

struct OfferAll {
    Mask open;
    LevelScratch &s;

    bool hopeless(const Pair &) const { return false; }
    void announce(const Pair &pair) const { __builtin_prefetch(&s.best[pair.text]); }
    void expect(const Pair &pair) const { s.best[pair.text].prefetch(); }
    void visit(const Pair &pair, const Scored &scored) const {
        offer_children(scored, open, s.positions, s.best[pair.text]);
    }
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

NodeScores score_level(SearchLevel &search_level, const Texts &texts, const Shortlist &shortlist, Mask open, Link link,
                       bool add_path, int64_t keep, int threads) {
    const std::vector<int64_t> open_children = count_open(search_level.level(), open);
    NodeScores result = allocate(open_children, shortlist, texts.count, keep);
    const int64_t blocks = (texts.count + kBlockTexts - 1) / kBlockTexts;
    parallel_for(
        blocks, threads, [] { return LevelScratch(); },
        [&](LevelScratch &s, int64_t task, const std::atomic<bool> &stop) {
            s.stop = &stop;
            s.block.use(texts, task * kBlockTexts, std::min((task + 1) * kBlockTexts, texts.count));
            take_pairs(shortlist, open_children, s);
            reset_best(result, s);
            score_pairs(search_level, link, add_path, s, OfferAll{open, s});
            write_nodes(result, s);
        });
    return result;
}

}  // namespace treetop
