// Beam search of many texts: block by block, in each block level by level, in each level parent by parent.
#include <algorithm>

#include "best.hpp"
#include "parallel.hpp"
#include "tree_search.hpp"

namespace treetop {
namespace {

constexpr int64_t kMostTexts = 16384;            // of a block: enough to pay for the lookup of each parent
constexpr int64_t kMostCandidates = 4'000'000;   // of a block: 64 MiB per thread
constexpr int64_t kMostFeatures = 8'000'000;     // of a block: 64 MiB per thread

// The best nodes of each text of a block, at the level in hand.
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
    Beams beams;
};

void start_at_root(BatchScratch &s) {
    s.pairs.clear();
    for (int64_t i = 0; i < s.block.count(); ++i) s.pairs.push_back({static_cast<int32_t>(i), 0, 0.0f});
}

void descend(BatchScratch &s) {
    s.pairs.clear();
    for (int64_t i = 0; i < s.block.count(); ++i)
        for (const Candidate &node : s.beams[i]) s.pairs.push_back({static_cast<int32_t>(i), node.id, node.score()});
}

void search_block(const Levels &levels, const Settings &settings, BatchScratch &s, int32_t *labels, float *scores) {
    start_at_root(s);
    for (size_t l = 0; l < levels.size(); ++l) {
        const Level &level = levels[l]->level();
        s.beams.reset(s.block.count(), std::min(settings.keep(l), level.nodes));
        s.positions.resize(static_cast<size_t>(level.max_children) + 1);
        score_pairs(level, settings.link_at(l), settings.add_path(l), s,
                    [&](int32_t pair, int64_t first, int64_t children, const float *margins, const float *child_scores) {
                        offer_children(level, first, children, margins, child_scores, s.positions,
                                       s.beams[s.pairs[pair].text]);
                    });
        if (!settings.last(l)) descend(s);
    }
    for (int64_t i = 0; i < s.block.count(); ++i) {
        const int64_t at = (s.block.first() + i) * settings.k;
        write_labels(s.beams[i], settings, labels + at, scores + at);
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

void search_batch(const Levels &levels, const Texts &texts, const Settings &settings, int threads, int32_t *labels,
                  float *scores) {
    const std::vector<int64_t> bounds = cut_blocks(levels, texts, settings, threads);
    parallel_for(
        static_cast<int64_t>(bounds.size()) - 1, threads, [] { return BatchScratch(); },
        [&](BatchScratch &s, int64_t task, const std::atomic<bool> &stop) {
            s.stop = &stop;
            s.block.use(texts, bounds[task], bounds[task + 1]);
            search_block(levels, settings, s, labels, scores);
        });
}

}  // namespace treetop
