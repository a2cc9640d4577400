// Beam search of many texts: block by block, in each block level by level, in each level parent by parent.
#include <algorithm>
#include <limits>
#include <utility>

#include "common/parallel.hpp"
#include "search/best.hpp"
#include "search/tree_search.hpp"

namespace treetop {
namespace {

constexpr int64_t kMostTexts = 16384;            // of a block: enough to pay for the lookup of each parent
constexpr int64_t kMostCandidates = 4'000'000;   // of a block: 64 MiB per thread
constexpr int64_t kMostFeatures = 8'000'000;     // of a block: 64 MiB per thread

// The best nodes of each text of a block at one level.
class Beams {
public:
    void reset(int64_t texts, int64_t keep) {
        pool_.resize(static_cast<size_t>(texts * keep));
        best_.clear();
        for (int64_t i = 0; i < texts; ++i) best_.emplace_back(pool_.data() + i * keep, keep);
    }

    Best &operator[](int64_t text) { return best_[text]; }

private:
    std::vector<Candidate> pool_;
    std::vector<Best> best_;
};

struct BatchScratch : BlockScratch {
    Beams above;  // the kept nodes of the level above, best first
    Beams found;  // at the level in hand
};

// One level of the search for the texts of a block.
class LevelSearch {
public:
    LevelSearch(SearchLevel &search_level, size_t depth, const Settings &settings, Mask open, BatchScratch &s)
        : search_level_(search_level), level_(search_level.level()), link_(settings.link_at(depth)),
          add_path_(settings.add_path(depth)), prunes_(settings.prunes(depth)),
          first_ranks_(depth == 0 ? 1 : (settings.keep(depth - 1) + 3) / 4), open_(open), s_(s) {}

    // Links are at most 1, so a child never beats its parent: once the parents that rank first have been searched, many
    // of the others cannot contribute. Whether that pays for preparing the chunks twice, a few texts tell.
    void run() {
        const int64_t texts = s_.block.count(), pilot = std::min(texts, kPilot);
        if (!prunes_) return search(0, texts, 0, kAllRanks);
        const double pruned = in_two_rounds(0, pilot);
        if (pruned * lookups() > kPreparation * static_cast<double>(level_.rows())) in_two_rounds(pilot, texts);
        else search(pilot, texts, 0, kAllRanks);
    }

    bool hopeless(const Pair &pair) const { return prunes_ && pair.above < s_.found[pair.text].bar(); }
    void announce(const Pair &pair) const { __builtin_prefetch(&s_.found[pair.text]); }
    void expect(const Pair &pair) const { s_.found[pair.text].prefetch(); }
    void visit(const Pair &pair, const Scored &scored) const {
        offer_children(scored, open_, s_.positions, s_.found[pair.text]);
    }

private:
    static constexpr int64_t kPilot = 32;
    static constexpr double kPreparation = 1.5;  // cost of preparing a row, in lookups
    static constexpr int64_t kAllRanks = std::numeric_limits<int64_t>::max();

    int64_t pairs(int64_t first, int64_t last) const {
        int64_t pairs = 0;
        for (int64_t i = first; i < last; ++i) pairs += s_.above[i].size();
        return pairs;
    }

    // Features and dimensions looked up in all chunks, if nothing is pruned.
    double lookups() const {
        const double texts = static_cast<double>(s_.block.count());
        const double features = s_.block.sparse() ? static_cast<double>(s_.block.features()) / texts : 0.0;
        return (features + static_cast<double>(level_.dims)) * static_cast<double>(pairs(0, s_.block.count()));
    }

    // Returns which part of the pairs was pruned.
    double in_two_rounds(int64_t first, int64_t last) {
        search(first, last, 0, first_ranks_);
        const int64_t searched = static_cast<int64_t>(s_.pairs.size());
        search(first, last, first_ranks_, kAllRanks);
        const double kept = static_cast<double>(searched + static_cast<int64_t>(s_.pairs.size()));
        return 1.0 - kept / static_cast<double>(std::max<int64_t>(1, pairs(first, last)));
    }

    // Parents of these ranks for texts [first, last).
    void search(int64_t first, int64_t last, int64_t first_rank, int64_t last_rank) {
        s_.pairs.clear();
        for (int64_t i = first; i < last; ++i) {
            const Candidate *node = s_.above[i].begin();
            const int64_t end = std::min(last_rank, s_.above[i].size());
            for (int64_t rank = first_rank; rank < end; ++rank) {
                const Pair pair{static_cast<int32_t>(i), node[rank].id, node[rank].score()};
                if (hopeless(pair)) break;  // the later ones as well
                s_.pairs.push_back(pair);
            }
        }
        score_pairs(search_level_, link_, add_path_, s_, *this);
    }

    SearchLevel &search_level_;
    const Level &level_;
    const Link link_;
    const bool add_path_;
    const bool prunes_;
    const int64_t first_ranks_;
    const Mask open_;
    BatchScratch &s_;
};

void search_block(const Levels &levels, const Settings &settings, const Allowed &allowed, BatchScratch &s,
                  int32_t *labels, float *scores) {
    const int64_t texts = s.block.count();
    s.found.reset(texts, 1);
    for (int64_t i = 0; i < texts; ++i) s.found[i].offer(make_candidate(0.0f, 0.0f, 0));  // the root
    for (size_t l = 0; l < levels.size(); ++l) {
        std::swap(s.above, s.found);
        for (int64_t i = 0; i < texts; ++i) s.above[i].sort();
        s.found.reset(texts, std::min(settings.keep(l), levels[l]->level().nodes));
        LevelSearch(*levels[l], l, settings, allowed.at(l), s).run();
    }
    for (int64_t i = 0; i < texts; ++i) {
        const int64_t at = (s.block.first() + i) * settings.k;
        write_labels(s.found[i], settings, labels + at, scores + at);
    }
}

// Bounds of the blocks: few texts if much is kept of each or if they are long; at least one block per thread.
std::vector<int64_t> cut_blocks(const Levels &levels, const Texts &texts, const Settings &settings, int threads) {
    int64_t most_kept = 1;
    for (size_t l = 0; l < levels.size(); ++l)
        most_kept = std::max(most_kept, std::min(settings.keep(l), levels[l]->level().nodes));
    const int64_t cap = std::clamp<int64_t>(kMostCandidates / most_kept, 1, kMostTexts);
    const int64_t rounds = (texts.count + cap * threads - 1) / (cap * threads);
    const int64_t size = (texts.count + rounds * threads - 1) / std::max<int64_t>(1, rounds * threads);
    std::vector<int64_t> bounds{0};
    for (int64_t i = 1; i < texts.count; ++i) {
        const int64_t first = bounds.back();
        const bool long_texts = texts.start != nullptr && texts.start[i + 1] - texts.start[first] > kMostFeatures;
        if (i - first >= size || long_texts) bounds.push_back(i);
    }
    if (texts.count > 0) bounds.push_back(texts.count);
    return bounds;
}

}  // namespace

void search_batch(const Levels &levels, const Texts &texts, const Settings &settings, const Allowed &allowed,
                  int threads, int32_t *labels, float *scores) {
    const std::vector<int64_t> bounds = cut_blocks(levels, texts, settings, threads);
    parallel_for(
        static_cast<int64_t>(bounds.size()) - 1, threads, [] { return BatchScratch(); },
        [&](BatchScratch &s, int64_t task, const std::atomic<bool> &stop) {
            s.stop = &stop;
            s.block.use(texts, bounds[task], bounds[task + 1]);
            search_block(levels, settings, allowed, s, labels, scores);
        });
}

}  // namespace treetop
